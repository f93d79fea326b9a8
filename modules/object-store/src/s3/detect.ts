import { storeErrors } from '../errors.ts';
import type { OperationRoute } from './operation.ts';
import { absentOperations } from './operations/absent.ts';
import { operations, type OperationName } from './operations/index.ts';
import type { S3Request } from './s3-request.ts';

/** A browser's preflight. It is not an S3 operation and is never signed. */
export type Preflight = 'CorsPreflight';

type Implemented = (typeof operations)[number];
type Absent = (typeof absentOperations)[number];
/** The operation that a request asks for. */
export type Detected = Implemented | Absent;

/** Selects the multipart operations, unless another parameter selects an operation of its own. */
const UPLOAD_ID = 'uploadId';
const PLAIN = '';

type ByMethod = ReadonlyMap<string, readonly Detected[]>;
/** By URL level, subresource and method. Candidates with `matches` come before the one without. */
type Index = Readonly<Record<'service' | 'bucket' | 'object', ReadonlyMap<string, ByMethod>>>;

const index: Index = indexOperations([...operations, ...absentOperations]);

/** Detects the S3 operation of a request. Throws `MethodNotAllowed` if S3 has none. */
export function detectOperation(request: S3Request): Detected | Preflight {
  const { method, bucketName, key } = request;
  if (method === 'OPTIONS') return 'CorsPreflight';
  const place = bucketName === null ? 'service' : key === null ? 'bucket' : 'object';
  if (place !== 'service') assertSensible(request);
  const candidates = index[place].get(findSubresource(request, index[place]))?.get(method) ?? [];
  const found = candidates.find((each) => !('matches' in each) || (each.matches?.(request) ?? true));
  if (found === undefined) {
    throw storeErrors.MethodNotAllowed({ details: { method, resourceType: place.toUpperCase() } });
  }
  return found;
}

export function isImplemented(detected: Detected): detected is Implemented {
  return 'handle' in detected;
}

function findSubresource({ query }: S3Request, known: Index['bucket']): string {
  const named = query.parameters.find(({ name }) => name !== UPLOAD_ID && name !== PLAIN && known.has(name));
  if (named !== undefined) return named.name;
  return query.has(UPLOAD_ID) && known.has(UPLOAD_ID) ? UPLOAD_ID : PLAIN;
}

function indexOperations(declared: readonly Detected[]): Index {
  const built: Record<keyof Index, Map<string, Map<string, Detected[]>>> = {
    service: new Map(),
    bucket: new Map(),
    object: new Map(),
  };
  for (const operation of declared) {
    const { on, at, method, subresource = PLAIN }: OperationRoute<OperationName> = operation;
    const places = built[at ?? on];
    const methods = places.get(subresource) ?? new Map<string, Detected[]>();
    places.set(subresource, methods);
    for (const each of typeof method === 'string' ? [method] : method) {
      const others = methods.get(each) ?? [];
      methods.set(each, 'matches' in operation ? [operation, ...others] : [...others, operation]);
    }
  }
  return built;
}

/** Rejects requests that match no operation, but for which S3 has a more specific error than `MethodNotAllowed`. */
function assertSensible({ method, key, query, headers }: S3Request): void {
  const copySource = headers.get('x-amz-copy-source');
  if (copySource !== undefined && method !== 'PUT' && (method !== 'POST' || query.has('uploadId'))) {
    throw storeErrors.InvalidArgument({
      details: {
        reason: 'You can only specify a copy source header for copy requests.',
        argumentName: 'x-amz-copy-source',
        argumentValue: copySource.slice(0, 1_024),
      },
    });
  }
  if (key === null) return;
  if (method === 'GET' && query.has('uploads')) {
    throw invalidRequest('Key is not expected for the GET method ?uploads subresource');
  }
  if (method === 'GET' && query.has('versions')) {
    throw invalidRequest('There is no such thing as the ?versions sub-resource for a key');
  }
  if (method !== 'PUT') return;
  if (query.has('partNumber') && !query.has('uploadId')) {
    throw storeErrors.InvalidArgument({
      details: {
        reason: 'This operation does not accept partNumber without uploadId',
        argumentName: 'partNumber',
        argumentValue: 'partNumber',
      },
    });
  }
  if (query.has('uploadId') && !query.has('partNumber')) {
    throw storeErrors.MethodNotAllowed({ details: { method, resourceType: 'UPLOAD' } });
  }
}

function invalidRequest(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}
