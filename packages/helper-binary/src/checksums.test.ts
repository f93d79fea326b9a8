import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hashSources, readChecksums } from './checksums.ts';
import { readGoVersion } from './go-toolchain.ts';
import { createHelperBinaries } from './helper-binaries.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SOURCES = join(ROOT, 'native/sandbox-agent');
const BUILD_LIMIT_MS = 10 * 60_000;
const MAX_BINARY_BYTES = 3.4 * 1024 * 1024;

it.each(['sandbox-agent', 'bucket-mount'])(
  'SHA256SUMS of %s is of the sources beside it; `node tools/helper/main.ts` writes it after a change',
  async (program) => {
    const sources = join(ROOT, 'native', program);
    expect(await hashSources(sources)).toBe((await readChecksums(sources)).sources);
  },
);

it(
  'the helper is small, since each sandbox has it in memory',
  async () => {
    const progress = (): void => undefined;
    const { file, sha256 } = await createHelperBinaries({ root: ROOT, environment: process.env, progress })(
      process.arch,
    );
    expect((await readChecksums(SOURCES)).binaries.get(`linux-${process.arch}/sandbox-agent`)).toBe(sha256);
    expect((await stat(file)).size).toBeLessThan(MAX_BINARY_BYTES);
  },
  BUILD_LIMIT_MS,
);

it('.go-packages pins packages by hash, for a version of Go that go.mod pins', async () => {
  const lines = (await readFile(join(ROOT, '.go-packages'), 'utf8')).split('\n').filter((line) => /^[A-Z]/.test(line));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^(Linux|Darwin)-\w+ \S+ \d+\.\d+\.\d+ sha512-[A-Za-z0-9+/]{86}==$/);
  expect(await readGoVersion(ROOT)).toMatch(/^\d+\.\d+\.\d+$/);
});
