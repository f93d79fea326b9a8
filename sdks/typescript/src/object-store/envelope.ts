import { UnexpectedAnswerError } from '../errors.ts';
import type { CallRequest, Transport } from '../transport.ts';
import type { WorkspaceRef } from '../workspaces.ts';

/** Calls the routes of one workspace's store and takes their answers out of the envelope `{success, message, data}`. */
export class StoreTransport {
  readonly #transport: Transport;
  readonly #workspace: WorkspaceRef;

  constructor(transport: Transport, workspace: WorkspaceRef) {
    this.#transport = transport;
    this.#workspace = workspace;
  }

  /** `path` is relative to the store, with its parts already encoded. */
  async call<Data>(request: CallRequest): Promise<Data> {
    const answer = await this.#transport.call<unknown>(this.absolute(request));
    return dataOf(answer) as Data; // the parse: the route's schema on the server is what promises this shape
  }

  /** An answer of which the body is not JSON; the caller reads or cancels it. */
  stream(request: CallRequest): Promise<Response> {
    return this.#transport.stream(this.absolute(request));
  }

  /** Where a request goes and with which headers, for whoever sends the body itself. */
  prepare(request: CallRequest): { url: string; headers: Record<string, string> } {
    return this.#transport.prepare(this.absolute(request));
  }

  absolute(request: CallRequest): CallRequest {
    const { workspaceUuid, teamUuid } = this.#workspace;
    const base = `/api/v1/workspace/${encodeURIComponent(workspaceUuid)}/object-store`;
    return { ...request, path: `${base}${request.path}`, query: { team_uuid: teamUuid, ...request.query } };
  }

  get transport(): Transport {
    return this.#transport;
  }
}

export function dataOf(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) {
    throw new UnexpectedAnswerError('The answer has no envelope');
  }
  return answer.data;
}

export function bucketPath(bucket: string): string {
  return `/buckets/${encodeURIComponent(bucket)}`;
}
