import { isAppError } from '@svc/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLifecycleRules } from '../domain/lifecycle/check-lifecycle.ts';
import type { LifecycleRule } from '../domain/lifecycle/lifecycle-document.ts';
import { MAX_OBJECT_TAGS, parseTagQuery } from '../domain/tags.ts';
import { readCopySource } from './copy-source-header.ts';
import { lifecycleNode, parseLifecycleXml } from './lifecycle-xml.ts';
import { fromToken, readEncoding, readLimitText, toToken } from './page-parameters.ts';
import { RequestQuery } from './query.ts';
import { readDeleteConditions } from './request-conditions.ts';
import { RequestHeaders } from './request-headers.ts';
import { parseTagging, taggingNode } from './tagging-document.ts';
import { xmlDocument } from './xml-writer.ts';

const headersWith = (name: string, value: string) => new RequestHeaders([name, value]);
const text = fc.string({ unit: 'binary', maxLength: 60 });
/** Documents with valid element names in the wrong places. */
const elements = (names: readonly string[]): fc.Arbitrary<string> => {
  const leaf = fc.constantFrom('', '1', '-1', 'true', 'Enabled', '2030-01-01', ' ', '&amp;', '<![CDATA[x]]>', '9e99');
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc
        .array(fc.tuple(fc.constantFrom(...names), tie('tree')), { maxLength: 4 })
        .map((children) => children.map(([name, content]) => `<${name}>${content}</${name}>`).join('')),
    ),
  }));
  return tree;
};
const LIFECYCLE_NAMES = [
  'Rule',
  'ID',
  'Status',
  'Filter',
  'And',
  'Prefix',
  'Tag',
  'Key',
  'Value',
  'Expiration',
  'Days',
  'Date',
  'ExpiredObjectDeleteMarker',
  'NoncurrentVersionExpiration',
  'NoncurrentDays',
  'AbortIncompleteMultipartUpload',
];

describe('parsers of client input', () => {
  it.each<[string, fc.Arbitrary<string>, (input: string) => unknown]>([
    ['a copy source', text, (input) => readCopySource(headersWith('x-amz-copy-source', input))],
    ['an encoded copy source', text, (input) => readCopySource(headersWith('x-amz-copy-source', encodeURI(input)))],
    ['tags of a header', text, parseTagQuery],
    ['a query', text, (input) => new RequestQuery(input).parameters],
    ['a token', text, fromToken],
    ['a number of keys', text, (input) => readLimitText(input, 'max-keys', 1_000)],
    ['an encoding', text, (input) => readEncoding(new RequestQuery(`encoding-type=${encodeURIComponent(input)}`))],
    ['conditions of a delete', text, (size) => readDeleteConditions({ etag: size, size, modified: size })],
    [
      'tags of a document',
      elements(['TagSet', 'Tag', 'Key', 'Value']),
      (input) => parseTagging(`<Tagging>${input}</Tagging>`, MAX_OBJECT_TAGS),
    ],
    [
      'lifecycle rules',
      elements(LIFECYCLE_NAMES),
      (input) =>
        checkLifecycleRules(parseLifecycleXml(`<LifecycleConfiguration>${input}</LifecycleConfiguration>`).rules),
    ],
    [
      'one lifecycle rule',
      elements(LIFECYCLE_NAMES),
      (input) =>
        checkLifecycleRules(
          parseLifecycleXml(`<LifecycleConfiguration><Rule>${input}</Rule></LifecycleConfiguration>`).rules,
        ),
    ],
  ])('reads %s or rejects it as the client’s error', (_what, input, parse) => {
    fc.assert(
      fc.property(input, (given) => {
        fc.pre(given.isWellFormed());
        try {
          parse(given);
        } catch (error) {
          expect(isAppError(error) ? error.status : error).toBeOneOf([400, 501]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('round-trips tags and tokens', () => {
    const tagText = fc.string({
      unit: fc.constantFrom('a', 'é', '5', '+', '-', '=', ' ', '/', '_', '.'),
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.dictionary(tagText, tagText, { maxKeys: 10 }), (tags) => {
        const document = xmlDocument('Tagging', taggingNode(tags), { namespace: true });
        expect(parseTagging(document, MAX_OBJECT_TAGS)).toEqual({ ...tags });
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (key) => {
        expect(fromToken(toToken(key))).toBe(key);
      }),
    );
  });

  it('round-trips lifecycle rules', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '&', '<', ' ', 'ü'), minLength: 1, maxLength: 8 });
    const number = fc.integer({ min: 1, max: 4_000 });
    const tags = fc.dictionary(fc.constantFrom('kind', 'age', 'owner'), fc.constantFrom('', 'a', 'ü+'), {
      maxKeys: 3,
      noNullPrototype: true,
    });
    const rule = fc.record<LifecycleRule>({
      id: word.map((id) => `r-${id}`),
      enabled: fc.boolean(),
      filter: fc.record({
        prefix: fc.oneof(fc.constant(''), word),
        tags,
        sizeGreaterThanBytes: fc.option(number),
        sizeLessThanBytes: fc.option(number.map((bytes) => bytes + 9_000)),
      }),
      expiration: fc.option(
        fc.oneof(
          fc.record({ days: number }),
          fc.record({ date: number.map((day) => new Date(day * 86_400_000).toISOString()) }),
          fc.constant({ expiredObjectDeleteMarker: true as const }),
        ),
      ),
      noncurrentVersionExpiration: fc.option(fc.record({ days: number, newerVersions: fc.option(number) })),
      abortIncompleteMultipartUpload: fc.option(fc.record({ days: number })),
    });
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 3 }), (rules) => {
        const document = xmlDocument('LifecycleConfiguration', lifecycleNode({ rules }), { namespace: true });
        expect(parseLifecycleXml(document)).toEqual({ rules });
      }),
    );
  });
});
