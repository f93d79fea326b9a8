import type { PolicyAction } from '../domain/access/policy/known-actions.ts';
import type { StoreAction } from '../domain/ports/maker-rights.ts';
import type { OperationRule } from './access/rules.ts';
import type { BucketContext, ObjectContext, S3Context } from './s3-context.ts';
import type { S3Request } from './s3-request.ts';

/** What an operation acts on, which determines its handler's context. */
export type OperationTarget = 'service' | 'bucket' | 'object';
export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

export type ServiceHandler = (context: S3Context) => Promise<void>;
export type BucketHandler = (context: BucketContext) => Promise<void>;
export type ObjectHandler = (context: ObjectContext) => Promise<void>;

/** How a request is recognized as an operation. */
export interface OperationRoute<Name extends string = string> {
  readonly name: Name;
  readonly on: OperationTarget;
  /** URL level if it differs from `on`: a bucket being created has no record yet. */
  readonly at?: 'bucket';
  /** A list combines S3 operations that differ only in their method. */
  readonly method: Method | readonly Method[];
  /** Query parameter that selects the operation, such as `tagging`. Absent for plain requests. */
  readonly subresource?: string;
  /** Tells apart operations with the same method and subresource; at most one of them has no `matches`. */
  readonly matches?: (request: S3Request) => boolean;
}

export interface ServiceOperation<Name extends string = string> extends OperationRoute<Name> {
  readonly on: 'service';
  readonly action: PolicyAction;
  readonly needs: StoreAction;
  /** `form`: the signature is in the body's fields, which the handler reads. */
  readonly authentication?: 'form';
  readonly handle: ServiceHandler;
}

export interface BucketOperation<Name extends string = string> extends OperationRoute<Name>, OperationRule {
  readonly on: 'bucket';
  readonly handle: BucketHandler;
}

export interface ObjectOperation<Name extends string = string> extends OperationRoute<Name>, OperationRule {
  readonly on: 'object';
  readonly handle: ObjectHandler;
}

export type Operation<Name extends string = string> =
  | ServiceOperation<Name>
  | BucketOperation<Name>
  | ObjectOperation<Name>;

/**
 * Declares an S3 operation: how it is recognized, the right it needs, and its handler. Every other list of operations
 * is derived from these declarations.
 */
export function defineOperation<const Name extends string>(declared: ServiceOperation<Name>): ServiceOperation<Name>;
export function defineOperation<const Name extends string>(
  declared: Omit<BucketOperation<Name>, 'asks'> & { readonly asks?: 'each' },
): BucketOperation<Name>;
export function defineOperation<const Name extends string>(declared: ObjectOperation<Name>): ObjectOperation<Name>;
export function defineOperation<Name extends string>(
  declared: ServiceOperation<Name> | (Omit<BucketOperation<Name>, 'asks'> & { asks?: 'each' }) | ObjectOperation<Name>,
): Operation<Name> {
  return declared.on === 'bucket' ? { asks: 'bucket', ...declared } : declared;
}

/** Whether a PUT copies an existing object. */
export function isCopy({ headers }: S3Request): boolean {
  return headers.has('x-amz-copy-source');
}
