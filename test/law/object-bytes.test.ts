import { describe, expect, it } from 'vitest';
import { isTest } from './project-files.ts';
import { typeScriptSources } from './typescript-source.ts';

const STORE = 'modules/object-store/src';
const sources = typeScriptSources().filter(({ path }) => path.startsWith(`${STORE}/`) && !isTest(path));

function importersOf(name: string): string[] {
  return sources.filter((source) => source.imports.some((each) => each.names.includes(name))).map(({ path }) => path);
}

function filesWith(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
}

// Browsers display users' bytes, so everything that sends them must use the single decision about their headers.
describe('object content', () => {
  it('is sent from one place, with headers from a single decision', () => {
    const sender = `${STORE}/s3/send-content.ts`;
    expect(importersOf('readContent').toSorted()).toEqual(
      // It reads bytes to hash or rewrite them.
      [`${STORE}/domain/content/stored-source.ts`, sender],
    );
    expect(importersOf('inlineContent')).toEqual([sender]);
    expect(importersOf('respondStream')).toEqual([sender]);
    expect(importersOf('contentHeaders')).toEqual([sender]);
  });

  it('is read from its engine only by the code that opens or verifies it', () => {
    expect(filesWith(/\bblobs\.read\(/).toSorted()).toEqual([
      `${STORE}/domain/content/read-content.ts`,
      `${STORE}/domain/scrub/scrubber.ts`,
    ]);
    expect(filesWith(/\bfound\.inline\b/).toSorted()).toEqual([
      `${STORE}/domain/content/read-content.ts`,
      `${STORE}/s3/send-content.ts`,
    ]);
  });

  it('is received, hashed, encrypted and stored in one place', () => {
    expect(importersOf('ContentWriter')).toEqual([`${STORE}/domain/content/content-store.ts`]);
    expect(importersOf('ContentSealer')).toEqual([`${STORE}/domain/content/content-writer.ts`]);
    expect(filesWith(/\bblobs\.create\(/)).toEqual([`${STORE}/domain/content/content-writer.ts`]);
    // A form that stores several files and a copy that only refers to stored bytes count as one upload each.
    expect(filesWith(/\b(uploadsInFlight|admission)\.enter\(/).toSorted()).toEqual([
      `${STORE}/domain/content/content-store.ts`,
      `${STORE}/routes/objects/form-routes.ts`,
      `${STORE}/s3/operations/upload-part-copy.ts`,
    ]);
  });

  it('has a media type that only one parser reads', () => {
    expect(filesWith(/contentType\.(split|match|startsWith)\(/i)).toEqual([]);
  });
});
