import type { ObjectStoreOperations } from '../generated/api.ts';
import type { CallOptions, QueryValue } from '../transport.ts';

/** `METHOD /path` of each route of a workspace's store, as in `api/openapi.json`. */
export type OperationName = Exclude<keyof ObjectStoreOperations, `${string} /api/${string}`>;

/** The data inside the response's envelope. */
export type AnswerOf<Name extends OperationName> = ObjectStoreOperations[Name]['answer'] extends { data: infer Data }
  ? Data
  : undefined;

/** The JSON body of an operation's request; `never` if it has none. */
export type BodyOf<Name extends OperationName> = NonNullable<ObjectStoreOperations[Name]['body']>;

/** The query of an operation, without the team, which the transport adds. */
export type QueryOf<Name extends OperationName> = Omit<ObjectStoreOperations[Name]['query'], 'team_uuid'>;

type ParameterOf<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterOf<Rest> : never;

type Parameters<Name> = [ParameterOf<Name>] extends [never]
  ? { parameters?: undefined }
  : { parameters: Readonly<Record<ParameterOf<Name>, string | number>> };

type Query<Name extends OperationName> =
  object extends QueryOf<Name> ? { query?: QueryOf<Name> } : { query: QueryOf<Name> };

type Body<Name extends OperationName> = undefined extends ObjectStoreOperations[Name]['body']
  ? { body?: undefined }
  : { body: BodyOf<Name> };

/** The request of an operation: path parameters, query and JSON body. A mismatch with the API is a type error. */
export type OperationRequest<Name extends OperationName> = Parameters<Name> &
  Query<Name> &
  Body<Name> &
  OperationOptions;

/** Options of every operation. `headers` are sent in addition to those of the transport. */
export interface OperationOptions extends CallOptions {
  headers?: Readonly<Record<string, string>>;
}

/** The request of any operation. */
export interface AnyRequest extends OperationOptions {
  parameters?: Readonly<Record<string, string | number>> | undefined;
  query?: Readonly<Record<string, QueryValue>>;
  body?: unknown;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Resolves a route: `PUT /buckets/{name}/settings` with `photos` becomes `PUT`, `/buckets/photos/settings`. */
export function addressOf(
  name: OperationName,
  parameters: Readonly<Record<string, string | number>> = {},
): { method: (typeof METHODS)[number]; path: string } {
  const method = METHODS.find((each) => name.startsWith(`${each} `));
  if (method === undefined) throw new TypeError(`${name} is no operation with an answer to read`);
  const path = name
    .slice(method.length + 1)
    .replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(parameters[parameter] ?? ''));
  return { method, path: path === '/' ? '' : path };
}
