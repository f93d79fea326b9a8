import { hash, timingSafeEqual } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';
import { isEncryptionAlgorithm, type EncryptionRequest } from '../domain/encryption-service.ts';
import { toCustomerKey, type CustomerKey } from '../domain/encryption/key-envelope.ts';
import { storeErrors } from '../errors.ts';
import type { ObjectEncryption } from '../domain/ports/records.ts';
import type { RequestHeaders } from './request-headers.ts';
import type { S3Context } from './s3-context.ts';

const ALGORITHM = 'x-amz-server-side-encryption';
const KMS_KEY_ID = 'x-amz-server-side-encryption-aws-kms-key-id';
const CUSTOMER = 'x-amz-server-side-encryption-customer';
const COPY_SOURCE_CUSTOMER = 'x-amz-copy-source-server-side-encryption-customer';
const CUSTOMER_KEY_BYTES = 32;

type HeaderContext = Pick<S3Context, 'request' | 'services'>;

/** Reads the encryption headers of an upload. Checks every rule about them. */
export function readEncryptionRequest(context: HeaderContext): EncryptionRequest {
  const { headers } = context.request;
  const customerKey = readCustomerKey(context);
  const algorithm = headers.get(ALGORITHM);
  const keyId = headers.get(KMS_KEY_ID);
  if (algorithm !== undefined && customerKey !== null) {
    throw invalid(
      'Server Side Encryption with Customer provided key is incompatible with the encryption method specified',
    );
  }
  if (keyId !== undefined && algorithm !== 'aws:kms') {
    throw invalid(`Server Side Encryption with AWS KMS managed key requires HTTP header ${ALGORITHM} : aws:kms`);
  }
  if (customerKey !== null) return { customerKey };
  if (algorithm === undefined) return {};
  if (!isEncryptionAlgorithm(algorithm)) throw invalid('The encryption method specified is not supported');
  return { algorithm, ...(keyId === undefined || keyId === '' ? {} : { keyId }) };
}

/** The customer's key for reading an object. A superfluous key is rejected when the object is read. */
export function readCustomerKey(context: HeaderContext): CustomerKey | null {
  return readKey(context, CUSTOMER);
}

export function readCopySourceCustomerKey(context: HeaderContext): CustomerKey | null {
  return readKey(context, COPY_SOURCE_CUSTOMER);
}

/** Reads must not have encryption headers. */
export function assertNoEncryptionRequest(headers: RequestHeaders): void {
  for (const name of [ALGORITHM, KMS_KEY_ID]) {
    if (headers.has(name)) throw invalid(`${name} header is not supported for this operation.`);
  }
}

/** Response headers for the encryption of an object. A customer's key is identified by the MD5 it was sent with. */
export function encryptionHeaders(
  encryption: ObjectEncryption | undefined,
  customerKey: CustomerKey | null | undefined,
): OutgoingHttpHeaders {
  switch (encryption?.mode) {
    case undefined:
      return {};
    case 'sse-s3':
      return { [ALGORITHM]: 'AES256' };
    case 'sse-kms':
      return { [ALGORITHM]: 'aws:kms', [KMS_KEY_ID]: encryption.keyId ?? '' };
    case 'sse-c':
      return {
        [`${CUSTOMER}-algorithm`]: 'AES256',
        ...(customerKey === null || customerKey === undefined ? {} : { [`${CUSTOMER}-key-md5`]: customerKey.md5 }),
      };
  }
}

function readKey({ request, services }: HeaderContext, prefix: string): CustomerKey | null {
  const { headers } = request;
  const algorithm = headers.get(`${prefix}-algorithm`);
  const text = headers.get(`${prefix}-key`);
  const md5 = headers.get(`${prefix}-key-md5`);
  if (algorithm === undefined && text === undefined && md5 === undefined) return null;
  if (services.deps.config.sse_c_requires_tls && !(request.incoming.socket instanceof TLSSocket)) {
    throw storeErrors.InvalidRequest({
      details: {
        reason:
          'Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.',
      },
    });
  }
  if (algorithm === undefined) throw missing('a valid encryption algorithm');
  if (algorithm !== 'AES256') throw storeErrors.InvalidEncryptionAlgorithmError();
  if (text === undefined) throw missing('an appropriate secret key');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== CUSTOMER_KEY_BYTES || bytes.toString('base64') !== text) {
    throw invalid('The secret key was invalid for the specified algorithm.');
  }
  if (md5 === undefined) throw missing('the client calculated MD5 of the secret key');
  const expected = hash('md5', bytes, 'buffer');
  const given = Buffer.from(md5, 'base64');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw invalid('The calculated MD5 hash of the key did not match the hash that was provided.');
  }
  return toCustomerKey(bytes);
}

function missing(what: string): Error {
  return invalid(`Requests specifying Server Side Encryption with Customer provided keys must provide ${what}.`);
}

function invalid(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { reason } });
}
