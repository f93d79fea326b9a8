import { describe, expect, it } from 'vitest';
import { knownHostName, setHostEntry, setKnownHost } from './host-entry.ts';

const OPTIONS = [
  ['HostName', 'svc.example'],
  ['UserKnownHostsFile', '/home/a user/known_hosts'],
] as const;
const ENTRY = 'Host web.svc\n  HostName svc.example\n  UserKnownHostsFile "/home/a user/known_hosts"\n';

describe('an entry in the configuration of OpenSSH', () => {
  it.each([
    ['an empty file', '', ENTRY],
    ['options for all hosts', 'ServerAliveInterval 30\n', `ServerAliveInterval 30\n\n${ENTRY}`],
    ['other hosts', 'Host *\n  User me\n', `${ENTRY}\nHost *\n  User me\n`],
    [
      'both, and a comment',
      'Include x\n\n# mine\nhost=a\n  User me\n',
      `Include x\n\n${ENTRY}\n# mine\nhost=a\n  User me\n`,
    ],
  ])('is added to %s', (_what, before, after) => {
    expect(setHostEntry(before, 'web.svc', OPTIONS)).toBe(after);
    expect(setHostEntry(after, 'web.svc', OPTIONS)).toBe(after);
  });

  it('replaces the one of the same name only', () => {
    const before = `Host web.svc.example\n  User a\n\nHost web.svc\n  Port 1\n  User old\n\n# next\nMatch all\n  User b\n`;
    expect(setHostEntry(before, 'web.svc', [['Port', '2']])).toBe(
      'Host web.svc.example\n  User a\n\nHost web.svc\n  Port 2\n\n# next\nMatch all\n  User b\n',
    );
  });
});

describe('a known host', () => {
  it('replaces an earlier key of the same host and port', () => {
    const name = knownHostName('svc.example', 2222);
    const before = `svc.example ssh-ed25519 A\n${name} ssh-ed25519 B\n`;
    expect(setKnownHost(before, name, 'ssh-ed25519 C')).toBe(
      'svc.example ssh-ed25519 A\n[svc.example]:2222 ssh-ed25519 C\n',
    );
    expect(setKnownHost('', knownHostName('svc.example', 22), 'ssh-ed25519 D')).toBe('svc.example ssh-ed25519 D\n');
  });
});
