import { expect, it } from 'vitest';
import { createConditionValues, type RequestFacts } from './request-conditions.ts';

function copySourceOf(header: string): readonly string[] | undefined {
  const facts = { header: (name: string) => (name === 'x-amz-copy-source' ? header : undefined) };
  return createConditionValues(facts as unknown as RequestFacts)('s3:x-amz-copy-source'); // it reads nothing else
}

it.each([
  ['/photos/public/a', 'photos/public/a'],
  ['photos/public/a%20b?versionId=null', 'photos/public/a b'],
  ['photos/public/a%3FversionId=/../secret', 'photos/public/a?versionId=/../secret'],
  ['photos/public/a?versionId=b?versionId=null', 'photos/public/a?versionId=b'],
  [Buffer.from('photos/\u00e9').toString('latin1'), 'photos/\u00e9'],
  ['photos', 'photos'],
])('shows policies the source that is copied: %s', (header, expected) => {
  expect(copySourceOf(header)).toEqual([expected]);
});
