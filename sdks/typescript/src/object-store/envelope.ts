import { UnexpectedAnswerError } from '../errors.ts';
import type { CallRequest, Transport } from '../transport.ts';
import type { WorkspaceRef } from '../workspaces.ts';
import { addressOf, type AnswerOf, type AnyRequest, type OperationName, type OperationRequest } from './operations.ts';

/** Calls the operations of one workspace's store and takes their answers out of the envelope `{success, message, data}`. */
export class StoreTransport {
  readonly #transport: Transport;
  readonly #workspace: WorkspaceRef;

  constructor(transport: Transport, workspace: WorkspaceRef) {
    this.#transport = transport;
    this.#workspace = workspace;
  }

  /** The schema of the route on the server is what promises the shape of the answer. */
  call<Name extends OperationName>(name: Name, request: OperationRequest<Name>): Promise<AnswerOf<Name>>;
  async call(name: OperationName, request: AnyRequest): Promise<unknown> {
    return dataOf(await this.#transport.call<unknown>(this.#callOf(name, request)));
  }

  /** An answer of which the body is not JSON; the caller reads or cancels it. */
  stream<Name extends OperationName>(name: Name, request: OperationRequest<Name>): Promise<Response>;
  stream(name: OperationName, request: AnyRequest): Promise<Response> {
    return this.#transport.stream(this.#callOf(name, request));
  }

  /** Where a request goes and with which headers, for whoever sends the body itself. */
  prepare<Name extends OperationName>(name: Name, request: OperationRequest<Name>): PreparedRequest;
  prepare(name: OperationName, request: AnyRequest): PreparedRequest {
    return this.#transport.prepare(this.#callOf(name, request));
  }

  get transport(): Transport {
    return this.#transport;
  }

  #callOf(name: OperationName, { parameters, query, ...request }: AnyRequest): CallRequest {
    const { workspaceUuid, teamUuid } = this.#workspace;
    const { method, path } = addressOf(name, parameters);
    const base = `/api/v1/workspace/${encodeURIComponent(workspaceUuid)}/object-store`;
    return { ...request, method, path: `${base}${path}`, query: { team_uuid: teamUuid, ...query } };
  }
}

export interface PreparedRequest {
  url: string;
  headers: Record<string, string>;
}

export function dataOf(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) {
    throw new UnexpectedAnswerError('The answer has no envelope');
  }
  return answer.data;
}
