import { describe, expect, it } from 'vitest';
import { createOwner } from '../owner-identity.ts';
import { evaluatePolicy, type PolicyQuestion } from './evaluate.ts';
import { parsePolicy } from './parse-policy.ts';
import { matchesWildcard } from './wildcard.ts';

const WORKSPACE = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

const statement = (more: object = {}): Record<string, unknown> => ({
  Effect: 'Allow',
  Principal: '*',
  Action: 's3:GetObject',
  Resource: 'arn:aws:s3:::photos/*',
  ...more,
});
const parse = (...statements: object[]) =>
  parsePolicy(JSON.stringify({ Version: '2012-10-17', Statement: statements }), 'photos');
const question = (more: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  workspaceUuid: WORKSPACE,
  accessKeyId: 'tid_key',
  action: 's3:GetObject',
  bucketName: 'photos',
  key: 'a/b.txt',
  conditions: () => undefined,
  ...more,
});

describe('parsePolicy', () => {
  it.each<[string, string]>([
    ['no JSON', 'nothing'],
    ['half of a document', '{"Statement": ['],
    ['a list', '[]'],
    ['no statement', '{}'],
    ['an empty list of statements', '{"Statement": []}'],
    ['an unknown version', JSON.stringify({ Version: '2020-01-01', Statement: [statement()] })],
    ['an unknown field', JSON.stringify({ Statements: [statement()], Statement: [statement()] })],
    ...Object.entries({
      'an unknown field of a statement': { Actions: 's3:GetObject' },
      'an effect in lower case': { Effect: 'allow' },
      'no effect': { Effect: undefined },
      'no principal': { Principal: undefined },
      'a principal of a wrong kind': { Principal: { Everybody: '*' } },
      'an empty principal': { Principal: {} },
      'a principal that is nobody': { Principal: { AWS: 'somebody' } },
      'a canonical user that is none': { Principal: { CanonicalUser: 'a'.repeat(64) } },
      'NotPrincipal with Allow': { Principal: undefined, NotPrincipal: { AWS: WORKSPACE } },
      'Principal and NotPrincipal': { NotPrincipal: { AWS: WORKSPACE }, Effect: 'Deny' },
      'no action': { Action: undefined },
      'an action that S3 has not': { Action: 's3:GetObjects' },
      'an action of another service': { Action: 'iam:CreateUser' },
      'Action and NotAction': { NotAction: 's3:PutObject' },
      'no resource': { Resource: [] },
      'a resource of another bucket': { Resource: 'arn:aws:s3:::videos/*' },
      'a resource that is none': { Resource: 'photos/*' },
      'a policy variable': { Resource: 'arn:aws:s3:::photos/${aws:username}/*' },
      'an operator that is none': { Condition: { StringIs: { 's3:prefix': 'a' } } },
      'a quantifier that is none': { Condition: { 'constructor:StringEquals': { 's3:prefix': 'a' } } },
      'a condition key that S3 has not': { Condition: { StringEquals: { 's3:prefixes': 'a' } } },
      'a condition without a key': { Condition: { StringEquals: 'a' } },
      'a condition without values': { Condition: { StringEquals: { 's3:prefix': [] } } },
      'an address that is none': { Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/33' } } },
    }).map(([name, more]): [string, string] => [name, JSON.stringify({ Statement: [statement(more)] })]),
    ['the same id twice', JSON.stringify({ Statement: [statement({ Sid: 'a' }), statement({ Sid: 'a' })] })],
  ])('rejects a policy with %s', (_, document) => {
    expect(() => parsePolicy(document, 'photos')).toThrow(expect.objectContaining({ code: 'MalformedPolicy' }));
  });

  it('accepts a single statement without a list, and a wildcard for the bucket', () => {
    expect(
      parsePolicy(JSON.stringify({ Statement: statement({ Resource: 'arn:aws:s3:::*' }) }), 'photos').statements,
    ).toHaveLength(1);
  });
});

describe('principals', () => {
  it.each<[unknown, boolean, boolean]>([
    ['*', true, true],
    [{ AWS: '*' }, true, true],
    [{ AWS: [`arn:aws:iam::${WORKSPACE}:root`] }, true, false],
    [{ AWS: `arn:aws:iam::${createOwner(WORKSPACE).id}:root` }, true, false],
    [{ AWS: WORKSPACE }, true, false],
    [{ AWS: 'tid_key' }, true, false],
    [{ AWS: `arn:aws:iam::${WORKSPACE}:user/tid_key` }, true, false],
    [{ AWS: `arn:aws:iam::${WORKSPACE}:user/tid_other` }, false, false],
    [{ CanonicalUser: createOwner(WORKSPACE).id }, true, false],
    [{ AWS: 'arn:aws:iam::123456789012:root' }, false, false],
    [{ Service: 'cloudfront.amazonaws.com' }, false, false],
  ])('%j: matches the workspace %s, matches everyone %s', (Principal, workspace, everybody) => {
    const policy = parse(statement({ Principal }));
    expect(evaluatePolicy(policy, question())).toBe(workspace ? 'allow' : 'silent');
    expect(evaluatePolicy(policy, question({ workspaceUuid: null, accessKeyId: null }))).toBe(
      everybody ? 'allow' : 'silent',
    );
  });

  it('does not deny principals excluded with NotPrincipal', () => {
    const policy = parse(statement({ Effect: 'Deny', Principal: undefined, NotPrincipal: { AWS: WORKSPACE } }));
    expect(evaluatePolicy(policy, question())).toBe('silent');
    expect(evaluatePolicy(policy, question({ workspaceUuid: OTHER, accessKeyId: 'tid_other' }))).toBe('deny');
  });
});

describe('actions and resources', () => {
  it.each<[object, string, string | null, boolean]>([
    [{ Action: '*' }, 's3:GetObject', 'a', true],
    [{ Action: 's3:Get*' }, 's3:GetObjectTagging', 'a', true],
    [{ Action: 'S3:getobject' }, 's3:GetObject', 'a', true],
    [{ Action: 's3:Get*' }, 's3:PutObject', 'a', false],
    [{ Action: undefined, NotAction: 's3:GetObject' }, 's3:GetObject', 'a', false],
    [{ Action: undefined, NotAction: 's3:GetObject' }, 's3:PutObject', 'a', true],
    [{ Action: 's3:*', Resource: 'arn:aws:s3:::photos' }, 's3:GetObject', 'a', false],
    [{ Action: 's3:ListBucket', Resource: 'arn:aws:s3:::photos' }, 's3:ListBucket', null, true],
    [{ Resource: 'arn:aws:s3:::photos/a?' }, 's3:GetObject', 'ab', true],
    [{ Resource: 'arn:aws:s3:::photos/a?' }, 's3:GetObject', 'abc', false],
    [{ Resource: undefined, NotResource: 'arn:aws:s3:::photos/private/*' }, 's3:GetObject', 'private/a', false],
    [{ Resource: undefined, NotResource: 'arn:aws:s3:::photos/private/*' }, 's3:GetObject', 'public/a', true],
  ])('%j and %s on %s: %s', (more, action, key, expected) => {
    expect(evaluatePolicy(parse(statement(more)), question({ action, key }))).toBe(expected ? 'allow' : 'silent');
  });
});

describe('conditions', () => {
  const values: Readonly<Record<string, readonly string[]>> = {
    's3:prefix': ['public/x'],
    'aws:sourceip': ['::ffff:10.1.2.3'],
    's3:max-keys': ['10'],
    'aws:securetransport': ['false'],
    'aws:currenttime': ['2026-06-01T00:00:00Z'],
    's3:requestobjecttagkeys': ['one', 'two'],
  };
  it.each<[object, boolean]>([
    [{ StringEquals: { 's3:prefix': ['other', 'public/x'] } }, true],
    [{ StringEquals: { 's3:Prefix': 'Public/x' } }, false],
    [{ StringEqualsIgnoreCase: { 's3:prefix': 'PUBLIC/X' } }, true],
    [{ StringNotEquals: { 's3:prefix': ['public/x', 'other'] } }, false],
    [{ StringNotEquals: { 's3:delimiter': '/' } }, true],
    [{ StringEquals: { 's3:delimiter': '/' } }, false],
    [{ StringEqualsIfExists: { 's3:delimiter': '/' } }, true],
    [{ StringLike: { 's3:prefix': 'public/*' } }, true],
    [{ StringNotLike: { 's3:prefix': 'public/*' } }, false],
    [{ IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } }, true],
    [{ IpAddress: { 'aws:SourceIp': ['192.168.0.0/16', '10.1.2.3'] } }, true],
    [{ NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } }, false],
    [{ IpAddress: { 'aws:SourceIp': '2001:db8::/32' } }, false],
    [{ NumericLessThanEquals: { 's3:max-keys': 10 } }, true],
    [{ NumericLessThan: { 's3:max-keys': '10' } }, false],
    [{ NumericEquals: { 's3:prefix': '1' } }, false],
    [{ Bool: { 'aws:SecureTransport': 'false' } }, true],
    [{ Bool: { 'aws:SecureTransport': true } }, false],
    [{ DateLessThan: { 'aws:CurrentTime': '2026-07-01T00:00:00Z' } }, true],
    [{ DateGreaterThan: { 'aws:CurrentTime': '1800000000' } }, false],
    [{ Null: { 's3:delimiter': 'true' } }, true],
    [{ Null: { 's3:prefix': 'true' } }, false],
    [{ Null: { 's3:prefix': false } }, true],
    [{ 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': ['one', 'two', 'three'] } }, true],
    [{ 'ForAllValues:StringEquals': { 's3:RequestObjectTagKeys': ['one'] } }, false],
    [{ 'ForAnyValue:StringEquals': { 's3:RequestObjectTagKeys': ['one'] } }, true],
    [{ 'ForAnyValue:StringEquals': { 's3:RequestObjectTagKeys': ['three'] } }, false],
    [{ StringEquals: { 's3:prefix': 'public/x' }, Bool: { 'aws:SecureTransport': 'true' } }, false],
  ])('%j matches: %s', (Condition, expected) => {
    const conditions = (key: string): readonly string[] | undefined => values[key];
    expect(evaluatePolicy(parse(statement({ Condition })), question({ conditions }))).toBe(
      expected ? 'allow' : 'silent',
    );
  });

  it('reports that conditions on object tags need the tags', () => {
    const tagged = parse(statement({ Condition: { StringEquals: { 's3:ExistingObjectTag/Team': 'a' } } }));
    expect(tagged.readsObjectTags).toBe(true);
    expect(parse(statement()).readsObjectTags).toBe(false);
  });
});

describe('isPublic', () => {
  it.each<[object, boolean]>([
    [{}, true],
    [{ Principal: { AWS: '*' } }, true],
    [{ Effect: 'Deny' }, false],
    [{ Principal: { AWS: WORKSPACE } }, false],
    [{ Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/32' } } }, false],
    [{ Condition: { IpAddress: { 'aws:SourceIp': '0.0.0.0/0' } } }, true],
    [{ Condition: { IpAddressIfExists: { 'aws:SourceIp': '10.0.0.0/32' } } }, true],
    [{ Condition: { StringEquals: { 'aws:SourceVpc': 'vpc-1' } } }, false],
    [{ Condition: { StringLike: { 'aws:SourceVpc': 'vpc-*' } } }, true],
    [{ Condition: { StringNotEquals: { 'aws:SourceVpc': 'vpc-1' } } }, true],
    [{ Condition: { StringLike: { 'aws:Referer': 'https://example.com/' } } }, true],
    [{ Condition: { StringEquals: { 's3:prefix': 'public/' } } }, true],
  ])('%j: %s', (more, expected) => {
    expect(parse(statement(more)).isPublic).toBe(expected);
  });
});

describe('wildcards', () => {
  it.each<[string, string, boolean]>([
    ['', '', true],
    ['*', '', true],
    ['?', '', false],
    ['a*c', 'abbbc', true],
    ['a*c', 'abbbd', false],
    ['*a*b*', 'xxaxxbxx', true],
    ['a**b', 'ab', true],
    ['[a]', 'a', false],
    ['a.c', 'abc', false],
  ])('%s matches %s: %s', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });

  it('matches in quadratic time at worst', () => {
    // Quadratic at worst; a backtracking matcher would not finish.
    expect(matchesWildcard(`${'*a'.repeat(500)}b`, 'a'.repeat(2_000))).toBe(false);
  });
});
