import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type ServiceImpl,
} from '@connectrpc/connect';
import type { UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol';
import type { DescService } from '@bufbuild/protobuf';
import { isAppError, toAppError } from '@svc/errors';
import type { Sandbox } from '../../domain/sandbox.ts';
import { sandboxErrors } from '../../errors.ts';
import type { Call, RpcMethod, RpcService } from './rpc-service.ts';

/** A message with input for a process may be as large as a request of the exec API. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_USER_CHARACTERS = 64;
const DEFAULT_KEEPALIVE_SECONDS = 50;
/** Below the idle limit of the listener. */
const MAX_KEEPALIVE_SECONDS = 60;
/** The longest delay of a timer. A client without a time limit sends none. */
const MAX_CALL_MS = 2_147_483_647;

/** Codes of Connect for errors that its table of HTTP statuses does not tell apart. */
const CODES: Readonly<Record<string, Code>> = {
  PATH_EXISTS: Code.AlreadyExists,
  USER_NOT_FOUND: Code.Unauthenticated,
  SANDBOX_NOT_RUNNING: Code.Unavailable,
  SANDBOX_GONE: Code.Unavailable,
  PROCESS_INPUT_CLOSED: Code.FailedPrecondition,
  DIRECTORY_NOT_EMPTY: Code.FailedPrecondition,
  DISK_FULL: Code.ResourceExhausted,
  HOST_DISK_FULL: Code.ResourceExhausted,
};

const CODES_OF_STATUS: Readonly<Record<number, Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  409: Code.FailedPrecondition,
  413: Code.ResourceExhausted,
  429: Code.ResourceExhausted,
  501: Code.Unimplemented,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
};

/** One call, as it arrived. */
export interface ConnectRequest extends Omit<UniversalServerRequest, 'url' | 'contextValues'> {
  readonly host: string;
  readonly sandbox: Sandbox;
  /** Ends the connection of the call. */
  readonly cut: () => void;
}

export type ConnectHandler = (request: ConnectRequest) => Promise<UniversalServerResponse>;

const SANDBOX = createContextKey<Sandbox | null>(null);
const CUT = createContextKey<() => void>(() => undefined);

/** Whether the message of a call was decoded, so that its method was called. */
interface Progress {
  isDecoded: boolean;
}

const PROGRESS = createContextKey<Progress>({ isDecoded: false });

/** Creates a handler for each method, by path. */
export async function createConnectHandlers(
  services: readonly RpcService[],
): Promise<ReadonlyMap<string, ConnectHandler>> {
  const router = createConnectRouter({
    connect: true,
    grpc: false,
    grpcWeb: false,
    readMaxBytes: MAX_MESSAGE_BYTES,
    maxTimeoutMs: MAX_CALL_MS,
  });
  for (const { describe, methods } of services) {
    const description = await describe();
    const implementation: Record<string, unknown> = {};
    for (const method of description.methods) {
      const given = methods[method.name];
      if (given !== undefined) implementation[method.localName] = implement(given);
    }
    // Services that are described at run time have no static types.
    router.service(description, implementation as Partial<ServiceImpl<DescService>>);
  }
  return new Map(
    router.handlers.map((handler) => [
      handler.requestPath,
      async ({ host, sandbox, cut, ...request }) => {
        const progress = { isDecoded: false };
        const response = await handler({
          ...request,
          url: `http://${host}${handler.requestPath}`,
          contextValues: createContextValues().set(SANDBOX, sandbox).set(CUT, cut).set(PROGRESS, progress),
        });
        return blameClient(response, progress);
      },
    ]),
  );
}

/**
 * The library answers a binary message that it cannot decode with `internal`. Until the method is called, every error is
 * that of the request, so that such an answer becomes `invalid_argument`, like the one to malformed JSON.
 */
function blameClient(response: UniversalServerResponse, progress: Progress): UniversalServerResponse {
  const { body } = response;
  if (body === undefined) return response;
  if (response.status === INTERNAL_STATUS && !progress.isDecoded) {
    return { ...response, status: 400, header: withoutLength(response.header), body: rewritten(body) };
  }
  return response.status === 200 && isStream(response) ? { ...response, body: watched(body, progress) } : response;
}

const INTERNAL_STATUS = 500;

function isStream({ header }: UniversalServerResponse): boolean {
  return header?.get('content-type')?.startsWith('application/connect+') === true;
}

function withoutLength(header: Headers | undefined): Headers {
  const kept = new Headers(header);
  kept.delete('content-length');
  return kept;
}

async function* rewritten(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk); // an error of the library, which is short
  yield Buffer.from(JSON.stringify(asClientError(Buffer.concat(chunks).toString())));
}

/** A stream whose first envelope is its end carries the error there. */
async function* watched(body: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    if (progress.isDecoded || ((chunk[0] ?? 0) & END_OF_STREAM) === 0) {
      yield chunk;
      continue;
    }
    const { error, ...rest } = JSON.parse(Buffer.from(chunk.subarray(ENVELOPE_BYTES)).toString()) as {
      error?: object;
    }; // as the library writes it
    const end = Buffer.from(
      JSON.stringify({ ...rest, ...(error !== undefined && { error: asClientError(JSON.stringify(error)) }) }),
    );
    const head = Buffer.alloc(ENVELOPE_BYTES);
    head.writeUInt8(END_OF_STREAM);
    head.writeUInt32BE(end.length, 1);
    yield Buffer.concat([head, end]);
  }
}

const ENVELOPE_BYTES = 5;
const END_OF_STREAM = 0b10;

function asClientError(text: string): object {
  const error = JSON.parse(text) as { code?: string }; // as the library writes it
  return error.code === 'internal' ? { ...error, code: 'invalid_argument' } : error;
}

/** Messages of a stream are decoded while the method reads them. */
async function* decoded(messages: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
  try {
    yield* messages;
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.Internal) throw error;
    throw new ConnectError(error.rawMessage, Code.InvalidArgument, undefined, undefined, error);
  }
}

function implement(method: RpcMethod): unknown {
  if ('unary' in method) {
    return async (message: unknown, context: HandlerContext) => {
      try {
        return await method.unary(message, callOf(context));
      } catch (error) {
        return rethrow(error);
      }
    };
  }
  if ('collect' in method) {
    return async (messages: AsyncIterable<unknown>, context: HandlerContext) => {
      try {
        return await method.collect(decoded(messages), callOf(context));
      } catch (error) {
        return rethrow(error);
      }
    };
  }
  return async function* (message: unknown, context: HandlerContext): AsyncGenerator<object, void> {
    let hasBegun = false;
    // The timer of the library may be late, and what the time limit has ended must not look like an end of its own.
    const isLate = (): boolean => (context.timeoutMs() ?? 1) <= 0;
    try {
      for await (const answer of method.stream(message, callOf(context))) {
        if (isLate()) break;
        hasBegun = true;
        yield answer;
      }
    } catch (error) {
      // Clients ask for the health of the sandbox only if the connection breaks.
      if (hasBegun && isAppError(error) && error.code === 'SANDBOX_NOT_RUNNING') context.values.get(CUT)();
      rethrow(error);
    }
    // A stream that its time limit ends must say so.
    if (context.signal.aborted) throw toConnectError(context.signal.reason);
    if (isLate()) throw new ConnectError('the time limit of the call is over', Code.DeadlineExceeded);
  };
}

function rethrow(error: unknown): never {
  throw toConnectError(error);
}

function callOf({ values, signal, requestHeader, timeoutMs }: HandlerContext): Call {
  values.get(PROGRESS).isDecoded = true;
  const sandbox = values.get(SANDBOX);
  if (sandbox === null) throw sandboxErrors.SANDBOX_TOKEN_INVALID();
  const asked = Number(requestHeader.get('keepalive-ping-interval') ?? DEFAULT_KEEPALIVE_SECONDS);
  const seconds = Number.isFinite(asked) && asked > 0 ? asked : DEFAULT_KEEPALIVE_SECONDS;
  const leftMs = timeoutMs();
  return {
    sandbox,
    user: userOf(requestHeader),
    signal,
    keepaliveMs: Math.max(1, Math.min(seconds, MAX_KEEPALIVE_SECONDS)) * 1000,
    timeoutMs: leftMs === undefined ? null : Math.max(1, Math.ceil(leftMs)),
  };
}

/** Clients name the user of a call as that of a Basic credential without a password. */
function userOf(requestHeader: Headers): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(requestHeader.get('authorization') ?? '')?.[1];
  if (encoded === undefined) return null;
  return Buffer.from(encoded, 'base64').toString().split(':', 1)[0]?.slice(0, MAX_USER_CHARACTERS) || null;
}

/** The error as Connect carries it. Only errors of the catalogs keep their text. */
function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (!isAppError(error))
    return new ConnectError(toAppError(error).message, Code.Internal, undefined, undefined, error);
  const code = CODES[error.code] ?? CODES_OF_STATUS[error.status] ?? Code.Internal;
  return new ConnectError(error.message, code, undefined, undefined, error);
}
