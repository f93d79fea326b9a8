import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, temporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeKind } from '../../src/adapters/drivers/local/runtime.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../support/local-subject.ts';
import { runInSandbox, type RunResult } from '../support/run-in-sandbox.ts';
import { sampleSpec } from '../support/sample-spec.ts';

const EXIT_CODE = 42;

/** A complete i386 program whose only system call is `exit(42)`, by interrupt 0x80. */
function programOf32Bits(): Buffer {
  const base = 0x0804_8000;
  const code = Buffer.from([0xb8, 1, 0, 0, 0, 0xbb, EXIT_CODE, 0, 0, 0, 0xcd, 0x80]);
  const headerBytes = 52;
  const segmentBytes = 32;
  const sizeBytes = headerBytes + segmentBytes + code.length;
  const file = Buffer.alloc(sizeBytes);
  file.set([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]); // ELF, 32 bits, little-endian
  file.writeUInt16LE(2, 16); // executable
  file.writeUInt16LE(3, 18); // i386
  file.writeUInt32LE(1, 20);
  file.writeUInt32LE(base + headerBytes + segmentBytes, 24); // entry point
  file.writeUInt32LE(headerBytes, 28);
  file.writeUInt16LE(headerBytes, 40);
  file.writeUInt16LE(segmentBytes, 42);
  file.writeUInt16LE(1, 44);
  const segment = [1, 0, base, base, sizeBytes, sizeBytes, 5, 0x1000]; // load everything, readable and executable
  segment.forEach((value, index) => file.writeUInt32LE(value, headerBytes + 4 * index));
  code.copy(file, headerBytes + segmentBytes);
  return file;
}

/** The program's exit code on this machine; null if the kernel runs no 32-bit programs. */
async function exitCodeHere(): Promise<number | null> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'program');
  await writeFile(path, programOf32Bits(), { mode: 0o755 });
  return new Promise((resolve) => {
    execFile(path, (error) => resolve(typeof error?.code === 'number' ? error.code : null));
  });
}

describe.each(['builtin', 'crun', 'runc'] satisfies RuntimeKind[])('system calls of sandboxes run by %s', (runtime) => {
  const reason = localDriverReason(runtime);
  describe.skipIf(reason !== null)(reason === null ? 'the filter' : skippedTitle('the filter', reason), () => {
    let subject: LocalSubject;
    let shell: (script: string) => Promise<RunResult>;
    beforeAll(async () => {
      subject = await localSubject(runtime);
      await subject.driver.open();
      const spec = sampleSpec('calls', { image: 'debian', network: 'egress' });
      const signal = AbortSignal.timeout(120_000);
      await subject.driver.create(spec, signal);
      await subject.driver.start(spec, signal);
      const connection = await subject.driver.connect(spec.id, signal);
      shell = (script) => runInSandbox(connection, ['sh', '-c', script]);
    });
    afterAll(() => subject.dispose());

    it.each([
      ['names of hosts', 'getent ahosts localhost', /127\.0\.0\.1|::1/],
      ['sockets over IPv4', perl('socket(my $s, PF_INET, SOCK_STREAM, 6) && print "open"'), /^open$/],
      ['sockets over IPv6', perl('socket(my $s, 10, SOCK_DGRAM, 17) && print "open"'), /^open$/],
      ['pairs of unix sockets', perl('socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) && print "open"'), /^open$/],
      ['routes and interfaces by netlink', perl('socket(my $s, 16, SOCK_RAW, 0) && print "open"'), /^open$/],
      [
        'programs in the background and pipes',
        '(sleep 0 & wait); echo a b | tr " " "\\n" | sort -r | head -n 1',
        /^b$/,
      ],
      ['archives', 'cd /tmp && echo x > f && tar -cz f | tar -tz', /^f$/],
    ])('lets ordinary programs use %s', async (_what, script, expected) => {
      const { stdout, stderr } = await shell(script);
      expect(stderr).toBe('');
      expect(stdout.trim()).toMatch(expected);
    });

    it('returns EPERM for netlink protocols other than routing, and for other address families', async () => {
      // NETLINK_NETFILTER, NETLINK_KOBJECT_UEVENT, NETLINK_CRYPTO; AF_ALG, AF_VSOCK, AF_XDP
      const sockets = [...[12, 15, 21].map((each) => `16, ${each}`), '38, 0', '40, 0', '44, 0'];
      for (const socket of sockets) {
        const [family, protocol] = socket.split(', ');
        const { stdout } = await shell(perl(`socket(my $s, ${family}, SOCK_RAW, ${protocol}) or print 0 + $!`));
        expect({ socket, answer: stdout }).toEqual({ socket, answer: '1' });
      }
    });

    it.runIf(process.arch === 'x64')('kills a 32-bit program at its first call, with SIGSYS', async () => {
      const text = programOf32Bits().toString('base64');
      const ended = await shell(`cd /root; echo ${text} | base64 -d > p; chmod +x p; ./p; echo $?`);
      expect(ended.stdout).toBe(`${128 + 31}\n`); // SIGSYS
      // The control: the machine runs it, if it runs 32-bit programs at all.
      expect([EXIT_CODE, null]).toContain(await exitCodeHere());
    });
  });
});

function perl(program: string): string {
  return `perl -MSocket -e '${program}'`;
}
