import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createParts } from './parts.ts';

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

describe('the parts of svc test', () => {
  it('assign each test file to one part, so that --all runs it once', () => {
    // Only the PostgreSQL part repeats files: those whose suites run on both dialects.
    const files = createParts(root).flatMap((part) => (part.name === 'postgres' ? [] : (part.files?.() ?? [])));
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([]);
  });

  it('include the public S3 suite by default', () => {
    const part = createParts(root).find(({ name }) => name === 'conformance');
    expect(part?.group).toBe('default');
    expect(part?.files?.()).toEqual([
      'test/conformance/e2b/e2b.conformance.test.ts',
      'test/conformance/s3-tests/s3-tests.conformance.test.ts',
    ]);
  });
});
