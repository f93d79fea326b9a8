import type { StoreAction } from '../domain/ports/maker-rights.ts';
import type { OperationRule } from './access/rules.ts';
import type { BucketContext, ObjectContext, S3Context } from './s3-context.ts';
import type { S3Request } from './s3-request.ts';

/** What an operation acts on, and so what its handler is given. */
export type OperationTarget = 'service' | 'bucket' | 'object';
export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

export type ServiceHandler = (context: S3Context) => Promise<void>;
export type BucketHandler = (context: BucketContext) => Promise<void>;
export type ObjectHandler = (context: ObjectContext) => Promise<void>;

/** How a request is recognized as an operation. */
export interface OperationRoute<Name extends string = string> {
  readonly name: Name;
  readonly on: OperationTarget;
  /** Where the URL points when that differs from `on`: a bucket that is about to be created has no record yet. */
  readonly at?: 'bucket';
  /** Several methods for what S3 documents as several operations that differ in nothing else here. */
  readonly method: Method | readonly Method[];
  /** The query parameter that selects the operation, such as `tagging`. Plain requests have none. */
  readonly subresource?: string;
  /** Tells an operation from the one that shares its method and subresource and has no `matches`. */
  readonly matches?: (request: S3Request) => boolean;
}

export interface ServiceOperation<Name extends string = string> extends OperationRoute<Name> {
  readonly on: 'service';
  readonly action: string;
  readonly needs: StoreAction;
  /** `form`: the signature is in the fields of the body, which the handler reads. */
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
 * Declares an operation of S3: how it is recognized, what right it needs, and what handles it. Everything else that lists
 * operations is derived from these declarations.
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

/** Whether a PUT copies what is stored already. */
export function isCopy({ headers }: S3Request): boolean {
  return headers.has('x-amz-copy-source');
}
