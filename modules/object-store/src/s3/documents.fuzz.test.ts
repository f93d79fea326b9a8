import { describeFuzz, orRefusal } from '@svc/testing';
import { expect } from 'vitest';
import { matchCors } from '../domain/cors/match-cors.ts';
import type { CorsDocument } from '../domain/settings/shared-documents.ts';
import { checkLifecycleRules } from '../domain/lifecycle/check-lifecycle.ts';
import { MAX_BUCKET_TAGS } from '../domain/tags.ts';
import { lifecycleNode, parseLifecycleXml } from './lifecycle-xml.ts';
import { readCorsDocument } from './operations/cors.ts';
import { readEncryptionDocument } from './operations/encryption.ts';
import { readObjectLockDocument, readRetention } from './operations/lock.ts';
import { parseTagging, taggingNode } from './tagging-document.ts';
import { xmlDocument, type XmlNode } from './xml-writer.ts';

/** Characters that end a header, or have no place in one. */
// eslint-disable-next-line no-control-regex -- those of headers
const NOT_IN_A_HEADER = /[\0-\x08\x0a-\x1f\x7f]/;

/** As GetBucketCors renders it. */
const corsNode = ({ rules }: CorsDocument): XmlNode => ({
  CORSRule: rules.map((rule) => ({
    ID: rule.id,
    AllowedMethod: rule.allowedMethods,
    AllowedOrigin: rule.allowedOrigins,
    AllowedHeader: rule.allowedHeaders,
    ExposeHeader: rule.exposeHeaders,
    MaxAgeSeconds: rule.maxAgeSeconds,
  })),
});

/** One `*` as a regular expression. */
const expressionOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*')}$`,
  );

const rule = '<AllowedOrigin>https://*.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>';

describeFuzz({
  name: 'CORS documents',
  corpus: new URL('./corpus/cors/', import.meta.url),
  seeds: [
    `<CORSConfiguration><CORSRule><ID>a</ID>${rule}<AllowedHeader>x-*</AllowedHeader><ExposeHeader>etag</ExposeHeader><MaxAgeSeconds>5</MaxAgeSeconds></CORSRule></CORSConfiguration>`,
    `<CORSConfiguration><CORSRule>${rule}<AllowedOrigin>*</AllowedOrigin><AllowedHeader>*</AllowedHeader></CORSRule></CORSConfiguration>`,
    `<CORSConfiguration><CORSRule>${rule}<AllowedOrigin>a&#x85;b&#10;c</AllowedOrigin></CORSRule></CORSConfiguration>`,
  ],
  dictionary: [
    '<CORSRule>',
    '</CORSRule>',
    '<AllowedOrigin>',
    '</AllowedOrigin>',
    '<AllowedMethod>PUT</AllowedMethod>',
    '<AllowedHeader>',
    '</AllowedHeader>',
    '*',
    '&#13;',
    '&#x1;',
    '<![CDATA[',
    ']]>',
    'null',
    '\u00e9',
    '$&',
    '<__proto__>',
  ],
  run: (input) => {
    const document = orRefusal(() => readCorsDocument(input.toString('utf8')));
    if (document === null) return;
    const again = readCorsDocument(xmlDocument('CORSConfiguration', corsNode(document), { namespace: true }));
    expect(again).toEqual(document);
    for (const { allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders } of document.rules) {
      for (const text of [...allowedOrigins, ...allowedHeaders, ...exposeHeaders])
        expect(text).not.toMatch(NOT_IN_A_HEADER);
      for (const pattern of allowedOrigins) {
        for (const origin of [
          pattern.replace('*', () => 'x.y'),
          pattern.replace('*', ''),
          `${pattern}x`,
          'https://evil.test',
        ]) {
          const match = matchCors(document.rules, { origin, method: allowedMethods[0] ?? '', headers: [] });
          const isAllowed = document.rules.some(
            (each) =>
              each.allowedMethods.some((method) => method === allowedMethods[0]) &&
              each.allowedOrigins.some((one) => expressionOf(one).test(origin)),
          );
          expect(match !== null, origin).toBe(isAllowed);
          // Only a rule for every origin lets a page read without naming it.
          if (match?.allowedOrigin === '*') expect(match.rule.allowedOrigins).toContain('*');
          else if (match !== null) expect(match.allowedOrigin).toBe(origin);
        }
      }
    }
  },
});

const expiry = '<Expiration><Days>3</Days></Expiration>';
const inRule = (content: string): string =>
  `<LifecycleConfiguration><Rule><ID>a</ID><Status>Enabled</Status>${content}</Rule></LifecycleConfiguration>`;

describeFuzz({
  name: 'lifecycle documents',
  corpus: new URL('./corpus/lifecycle/', import.meta.url),
  seeds: [
    inRule(`<Filter><Prefix>a/</Prefix></Filter>${expiry}`),
    inRule(`<Prefix></Prefix><Expiration><Date>2030-01-01T00:00:00Z</Date></Expiration>`),
    inRule(
      `<Filter><And><Prefix>b</Prefix><Tag><Key>k</Key><Value>v</Value></Tag><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></And></Filter>${expiry}`,
    ),
    inRule(
      '<Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration>',
    ),
    inRule(
      '<Filter></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>',
    ),
  ],
  dictionary: [
    '<Rule>',
    '</Rule>',
    '<Filter>',
    '</Filter>',
    '<And>',
    '</And>',
    '<Tag><Key>',
    '<Prefix>',
    '</Prefix>',
    '<Date>',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T24:00:00',
    '-1',
    '999999999999999',
    '&#1;',
    '__proto__',
    ' ',
  ],
  run: (input) => {
    const document = orRefusal(() => {
      const parsed = parseLifecycleXml(input.toString('utf8'));
      checkLifecycleRules(parsed.rules);
      return parsed;
    });
    if (document === null) return;
    const rendered = xmlDocument('LifecycleConfiguration', lifecycleNode(document), { namespace: true });
    expect(parseLifecycleXml(rendered)).toEqual(document);
    for (const { filter, expiration } of document.rules) {
      expect(Object.keys(filter.tags).every((key) => key !== '' && key.length <= 256)).toBe(true);
      if (expiration !== null && 'date' in expiration)
        expect(expiration.date).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
      if (expiration !== null && 'days' in expiration) expect(expiration.days).toBeGreaterThan(0);
    }
  },
});

const NOW_MS = Date.UTC(2026, 0, 1);

describeFuzz({
  name: 'documents for tags, encryption and locks',
  corpus: new URL('./corpus/documents/', import.meta.url),
  seeds: [
    '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag><Tag><Key>__proto__</Key><Value>c</Value></Tag></TagSet></Tagging>',
    '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm><KMSMasterKeyID>k</KMSMasterKeyID></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>true</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>',
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>',
    '<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>2030-01-01T00:00:00Z</RetainUntilDate></Retention>',
  ],
  dictionary: [
    '<Tag>',
    '</Tag>',
    '<Key>',
    '</Key>',
    '<Value>',
    '</Value>',
    '<Days>',
    '</Days>',
    'AES256',
    'constructor',
    '<Mode>',
    '2026-02-30T00:00:00Z',
    '+99:99',
    '0000-00-00',
    '-1',
    '99999999',
    '&#x2028;',
    'aws:',
    '\u00a0',
  ],
  run: (input) => {
    const text = input.toString('utf8');
    const tags = orRefusal(() => parseTagging(text, MAX_BUCKET_TAGS));
    if (tags !== null) {
      expect(Object.keys(tags).length).toBeLessThanOrEqual(MAX_BUCKET_TAGS);
      const rendered = xmlDocument('Tagging', taggingNode(tags), { namespace: true });
      expect(new Map(Object.entries(parseTagging(rendered, MAX_BUCKET_TAGS)))).toEqual(new Map(Object.entries(tags)));
    }
    const encryption = orRefusal(() => readEncryptionDocument(text));
    if (encryption !== null) expect(['AES256', 'aws:kms']).toContain(encryption.algorithm);
    const lock = orRefusal(() => readObjectLockDocument(text))?.defaultRetention ?? null;
    if (lock !== null) {
      expect(['GOVERNANCE', 'COMPLIANCE']).toContain(lock.mode);
      expect((lock.days ?? 0) > 0 !== (lock.years ?? 0) > 0).toBe(true);
    }
    const retention = orRefusal(() => readRetention(text, NOW_MS));
    if (retention === null) return;
    expect(retention.untilMs).toBeGreaterThan(NOW_MS);
    expect(new Date(retention.untilMs).toISOString()).toMatch(/^\d{4}-/);
  },
});
