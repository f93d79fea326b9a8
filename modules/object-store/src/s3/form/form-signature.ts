import type { AppError } from '@svc/errors';
import { ALGORITHM, parseAmzDate, sameSignature } from '@svc/s3-sign';
import type { Credential, CredentialCache } from '../../domain/credential-cache.ts';
import { storeErrors } from '../../errors.ts';
import type { Refuse } from '../auth/auth-refusals.ts';
import { assertRegion, readCredentialScope } from '../auth/credential-scope.ts';

type Fields = ReadonlyMap<string, string>;

export interface FormSignatureOptions {
  credentials: CredentialCache;
  regions: readonly string[];
}

/**
 * Verifies the signature of a form's policy and returns its credential; null for a form without a policy. Also accepts
 * the older HMAC-SHA1 signature over the policy, which existing forms carry; it is accepted nowhere else.
 */
export async function authenticateForm(fields: Fields, options: FormSignatureOptions): Promise<Credential | null> {
  const policy = fields.get('policy');
  if (fields.has('x-amz-security-token')) throw storeErrors.InvalidToken();
  const isVersion4 = ['x-amz-algorithm', 'x-amz-credential', 'x-amz-signature'].some((name) => fields.has(name));
  const isSigned = isVersion4 || fields.has('awsaccesskeyid') || fields.has('signature');
  if (policy === undefined) {
    if (isSigned) throw missing('policy');
    return null;
  }
  return isVersion4 ? await byVersion4(fields, policy, options) : await byVersion2(fields, policy, options);
}

async function byVersion4(fields: Fields, policy: string, options: FormSignatureOptions): Promise<Credential> {
  const algorithm = needed(fields, 'x-amz-algorithm');
  if (algorithm !== ALGORITHM) {
    throw invalid(`Only ${ALGORITHM} is supported`, 'X-Amz-Algorithm', algorithm);
  }
  const signature = needed(fields, 'x-amz-signature');
  const scope = needed(fields, 'x-amz-credential');
  const refuse: Refuse = (reason, details) => invalid(reason, 'x-amz-credential', scope, details);
  const { accessKeyId, date, region } = readCredentialScope(scope, refuse);
  assertRegion(region, options.regions, refuse);
  const amzDate = needed(fields, 'x-amz-date');
  if (parseAmzDate(amzDate) === null) {
    throw invalid('X-Amz-Date must be formated via ISO8601 Long format', 'X-Amz-Date', amzDate);
  }
  if (!amzDate.startsWith(date)) throw storeErrors.SignatureDoesNotMatch();
  const credential = await find(accessKeyId, options);
  const expected = credential.signingKey(date, region).sign(policy);
  if (!sameSignature(signature, expected)) {
    const details = { accessKeyId, signatureProvided: signature, stringToSign: policy };
    throw storeErrors.SignatureDoesNotMatch({ details });
  }
  options.credentials.noteUse(accessKeyId);
  return credential;
}

async function byVersion2(fields: Fields, policy: string, options: FormSignatureOptions): Promise<Credential> {
  const signature = needed(fields, 'signature');
  const credential = await find(needed(fields, 'awsaccesskeyid'), options);
  if (!sameSignature(signature, credential.formSignature(policy))) throw storeErrors.SignatureDoesNotMatch();
  options.credentials.noteUse(credential.key.accessKeyId);
  return credential;
}

async function find(accessKeyId: string, { credentials }: FormSignatureOptions): Promise<Credential> {
  const credential = await credentials.find(accessKeyId);
  if (credential === null) throw storeErrors.InvalidAccessKeyId({ details: { accessKeyId } });
  return credential;
}

function invalid(reason: string, argumentName: string, value: string, details: object = {}): AppError {
  const argumentValue = value.slice(0, 256);
  return storeErrors.InvalidArgument({ details: { ...details, reason, argumentName, argumentValue } });
}

function needed(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined || value === '') throw missing(name);
  return value;
}

function missing(name: string): Error {
  const reason = `Bucket POST must contain a field named '${name}'.  If it is specified, please check the order of the fields.`;
  return storeErrors.InvalidArgument({ details: { reason, field: name, argumentName: name, argumentValue: '' } });
}
