import type { DescService } from '@bufbuild/protobuf';
import type { Action } from '@svc/access';
import type { Sandbox } from '../../domain/sandbox.ts';

/** What a call acts on, and for whom. */
export interface Call {
  readonly sandbox: Sandbox;
  /** The user that the client names; null for the default one. */
  readonly user: string | null;
  /** Aborted when the client disconnects, the time limit is over, or the right is lost. */
  readonly signal: AbortSignal;
  readonly keepaliveMs: number;
  /** What is left of the client's time limit; null for no limit. */
  readonly timeoutMs: number | null;
}

/** Implementation of one method; the message has the type of its descriptor. */
export type RpcMethod = {
  readonly action: Action;
  /** True for reads and for keystrokes. */
  readonly isUnaudited?: true;
} & (
  | { readonly unary: (message: unknown, call: Call) => Promise<object> }
  | { readonly stream: (message: unknown, call: Call) => AsyncIterable<object> }
  | { readonly collect: (messages: AsyncIterable<unknown>, call: Call) => Promise<object> }
);

export interface RpcService {
  /** With its package. */
  readonly name: string;
  /** Loads the description of its messages. */
  readonly describe: () => Promise<DescService>;
  /** By the name of the method. */
  readonly methods: Readonly<Record<string, RpcMethod>>;
}
