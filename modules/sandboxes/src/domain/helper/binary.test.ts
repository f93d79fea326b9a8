import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';

const NATIVE = join(import.meta.dirname, '../../../../../native/sandbox-agent');
const BUILD_LIMIT_MS = 10 * 60_000;
const MAX_BINARY_BYTES = 3 * 1024 * 1024;

describe("the helper's binaries", () => {
  it('are small and match SHA256SUMS', () => {
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: join(NATIVE, 'bin'),
      encoding: 'utf8',
    });
    expect(checked).toBe('linux-arm64/sandbox-agent: OK\nlinux-x64/sandbox-agent: OK\n');
    for (const platform of ['linux-x64', 'linux-arm64']) {
      expect(statSync(join(NATIVE, 'bin', platform, 'sandbox-agent')).size).toBeLessThan(MAX_BINARY_BYTES);
    }
  });
});

describeRequiring(['go'], "the helper's source", () => {
  it(
    'builds reproducibly, byte for byte',
    async () => {
      await using folder = await temporaryFolder();
      execFileSync(join(NATIVE, 'build'), [folder.path], { stdio: 'pipe' });
      const sums = (where: string): string => readFileSync(join(where, 'SHA256SUMS'), 'utf8');
      expect(sums(folder.path)).toBe(sums(join(NATIVE, 'bin')));
    },
    BUILD_LIMIT_MS,
  );

  it(
    'passes its own tests and go vet',
    () => {
      execFileSync('go', ['vet', './...'], { cwd: NATIVE, stdio: 'pipe' });
      execFileSync('go', ['test', './...'], { cwd: NATIVE, stdio: 'pipe' });
    },
    BUILD_LIMIT_MS,
  );
});
