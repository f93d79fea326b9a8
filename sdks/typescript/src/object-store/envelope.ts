import { UnexpectedAnswerError } from '../errors.ts';
import type { CallRequest, Transport } from '../transport.ts';
import type { WorkspaceRef } from '../workspaces.ts';
import { addressOf, type AnswerOf, type AnyRequest, type OperationName, type OperationRequest } from './operations.ts';

/** Calls operations of a workspace's store and unwraps the envelope `{success, message, data}`. */
export class StoreTransport {
  readonly #transport: Transport;
  readonly #workspace: WorkspaceRef;

  constructor(transport: Transport, workspace: WorkspaceRef) {
    this.#transport = transport;
    this.#workspace = workspace;
  }

  /** The server's route schema guarantees the shape of the response. */
  call<Name extends OperationName>(name: Name, request: OperationRequest<Name>): Promise<AnswerOf<Name>>;
  async call(name: OperationName, request: AnyRequest): Promise<unknown> {
    return parseData(await this.#transport.call<unknown>(this.#createCall(name, request)));
  }

  /** Returns a response whose body is not JSON. The caller reads or cancels it. */
  stream<Name extends OperationName>(name: Name, request: OperationRequest<Name>): Promise<Response>;
  stream(name: OperationName, request: AnyRequest): Promise<Response> {
    return this.#transport.stream(this.#createCall(name, request));
  }

  /** Returns the URL and headers of a request, for callers that send the body themselves. */
  prepare<Name extends OperationName>(name: Name, request: OperationRequest<Name>): PreparedRequest;
  prepare(name: OperationName, request: AnyRequest): PreparedRequest {
    return this.#transport.prepare(this.#createCall(name, request));
  }

  /** The transport of all calls. */
  get transport(): Transport {
    return this.#transport;
  }

  #createCall(name: OperationName, { parameters, query, ...request }: AnyRequest): CallRequest {
    const { workspaceUuid, teamUuid } = this.#workspace;
    const { method, path } = addressOf(name, parameters);
    const base = `/api/v1/workspace/${encodeURIComponent(workspaceUuid)}/object-store`;
    return { ...request, method, path: `${base}${path}`, query: { team_uuid: teamUuid, ...query } };
  }
}

/** URL and headers of a request whose body the caller sends. */
export interface PreparedRequest {
  url: string;
  headers: Record<string, string>;
}

/** Returns `data` from an envelope. Throws `UnexpectedAnswerError` if the response has none. */
export function parseData(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) {
    throw new UnexpectedAnswerError('The answer has no envelope');
  }
  return answer.data;
}
