import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { evaluatePolicy, type PolicyQuestion } from './evaluate.ts';
import { parsePolicy } from './parse-policy.ts';
import type { BucketPolicy } from './policy.ts';

const BUCKET = 'photos';
const WORKSPACE = '2f1d7a4e-5b0c-4c62-9d35-6a6b3f6f1e01';
const ARN = `arn:aws:s3:::${BUCKET}`;

function parse(document: string): BucketPolicy | null {
  try {
    return parsePolicy(document, BUCKET);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  }
}

function questions(workspaceUuid: string | null): PolicyQuestion[] {
  const accessKeyId = workspaceUuid === null ? null : 'tid_key';
  const actions = ['s3:GetObject', 's3:PutObject', 's3:ListBucket', 's3:DeleteBucket', 's3:PutBucketPolicy'];
  return actions.flatMap((action) =>
    [null, 'a/b', ''].map((key) => {
      const conditions = (): undefined => undefined;
      return { workspaceUuid, accessKeyId, action, bucketName: BUCKET, key, conditions };
    }),
  );
}

const ANONYMOUS = questions(null);
const ALL = [...ANONYMOUS, ...questions(WORKSPACE)];
const DENY_ALL = { Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: [ARN, `${ARN}/*`] };

function renderPolicy(statement: object): string {
  const allow = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `${ARN}/*` };
  return JSON.stringify({ Version: '2012-10-17', Statement: [{ ...allow, ...statement }] });
}

describeFuzz({
  name: 'bucket policies',
  corpus: new URL('./corpus/policy/', import.meta.url),
  seeds: [
    renderPolicy({}),
    renderPolicy({ Principal: { AWS: [WORKSPACE, `arn:aws:iam::${WORKSPACE}:root`] }, Action: ['s3:Put*', 's3:*'] }),
    renderPolicy({ Effect: 'Deny', NotPrincipal: { AWS: WORKSPACE }, Principal: undefined }),
    renderPolicy({
      NotAction: 's3:DeleteBucket',
      Action: undefined,
      NotResource: `${ARN}/secret*`,
      Resource: undefined,
    }),
    renderPolicy({ Condition: { IpAddress: { 'aws:SourceIp': ['192.0.2.0/24', '2001:db8::/32'] } } }),
    renderPolicy({ Condition: { 'ForAllValues:StringLikeIfExists': { 's3:prefix': ['a*', '${aws:username}'] } } }),
    renderPolicy({ Condition: { Null: { 'aws:Referer': 'true' }, DateLessThan: { 'aws:CurrentTime': '2030-01-01' } } }),
  ],
  dictionary: [
    '"Effect":"Deny",',
    '"Effect":"Allow",',
    '"Principal":"*",',
    '"Principal":{"AWS":"*"},',
    '"NotPrincipal":',
    '"NotAction":',
    '"NotResource":',
    '"Condition":{',
    '"ForAnyValue:StringEquals"',
    '"NotIpAddress"',
    '"aws:SourceIp"',
    '0.0.0.0/0',
    '::/0',
    '?',
    '*',
    '[]',
    '{}',
    'null',
    '"__proto__":',
    'constructor:',
    '\\u0000',
  ],
  run: (input) => {
    const document = input.toString('utf8');
    const policy = parse(document);
    if (policy === null) return;
    const answers = ALL.map((question) => evaluatePolicy(policy, question));
    if (!policy.isPublic) {
      const allowed = ANONYMOUS.filter((question) => evaluatePolicy(policy, question) === 'allow');
      expect(allowed, 'a policy that is not public allows anonymous callers nothing').toEqual([]);
    }
    const text = JSON.stringify(JSON.parse(document), null, 2);
    const again = parse(text);
    if (again !== null) expect(ALL.map((question) => evaluatePolicy(again, question))).toEqual(answers);
    const deny = parsePolicy(JSON.stringify({ Statement: [DENY_ALL] }), BUCKET);
    const denied = { ...policy, statements: [...policy.statements, ...deny.statements] };
    for (const question of ALL) expect(evaluatePolicy(denied, question)).toBe('deny');
  },
});
