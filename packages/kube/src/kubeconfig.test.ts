import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { kubeconfigAccess } from './kubeconfig.ts';

const base = {
  clusters: [
    { name: 'one', cluster: { server: 'https://one.example:6443/k8s/prefix', 'tls-server-name': 'inner' } },
    { name: 'two', cluster: { server: 'https://two.example', 'insecure-skip-tls-verify': true } },
  ],
  users: [
    { name: 'with-token', user: { token: 'abc' } },
    { name: 'with-file', user: { tokenFile: 'token.txt' } },
    { name: 'with-plugin', user: { exec: { command: 'aws' } } },
  ],
  contexts: [
    { name: 'first', context: { cluster: 'one', user: 'with-token', namespace: 'apps' } },
    { name: 'second', context: { cluster: 'two', user: 'with-file' } },
    { name: 'plugin', context: { cluster: 'one', user: 'with-plugin' } },
    { name: 'nowhere', context: { cluster: 'absent', user: 'with-token' } },
  ],
  'current-context': 'first',
};

async function read(content: unknown, context?: string) {
  const folder = await temporaryFolder();
  await writeFile(join(folder.path, 'config'), typeof content === 'string' ? content : JSON.stringify(content));
  await writeFile(join(folder.path, 'token.txt'), 'from-file\n');
  return { folder, access: await kubeconfigAccess(join(folder.path, 'config'), context) };
}

describe('kubeconfig', () => {
  it('reads the current context with its namespace, path prefix and server name', async () => {
    const { access } = await read(base);
    expect(access).toMatchObject({ namespace: 'apps', serverName: 'inner', insecureSkipVerify: false });
    expect(access.server.href).toBe('https://one.example:6443/k8s/prefix');
    expect(await access.token.current()).toBe('abc');
  });

  it('reads another context by name, with a token from a file next to it', async () => {
    const { access } = await read(base, 'second');
    expect(access).toMatchObject({ namespace: 'default', insecureSkipVerify: true });
    expect(await access.token.current()).toBe('from-file');
  });

  it.each([
    ['a plugin', base, 'plugin', 'exec'],
    ['a missing cluster', base, 'nowhere', '"absent"'],
    ['a missing context', base, 'third', '"third"'],
    ['something else', 'just text', undefined, 'not a mapping'],
    ['broken YAML', '{', undefined, 'cannot be read'],
    [
      'a server that is no URL',
      { ...base, clusters: [{ name: 'one', cluster: { server: 'ftp://x' } }] },
      undefined,
      'http(s)',
    ],
  ])('rejects a file with %s, with the reason', async (_what, content, context, words) => {
    await expect(read(content, context)).rejects.toMatchObject({
      code: 'KUBECONFIG_INVALID',
      message: expect.stringContaining(words) as string,
    });
  });
});
