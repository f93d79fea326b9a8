import type { AnswerOf, BodyOf } from './operations.ts';

/** Types of access keys and custom domains: those of the routes, under the SDK's names. */

export type AccessKey = AnswerOf<'GET /keys'>['keys'][number];
/** A permission of an access key. */
export type KeyPermission = AccessKey['permissions'][number];
/** Defaults: named `dashboard`, read and write, all buckets, no expiry. */
export type NewAccessKey = BodyOf<'POST /keys'>;
/** A new access key. The secret is in this response only. */
export type CreatedAccessKey = AnswerOf<'POST /keys'>;

/** A hostname that serves a bucket. */
export type CustomDomain = AnswerOf<'GET /domains'>['domains'][number];
/** Verification state of a custom domain. */
export type DomainStatus = CustomDomain['status'];
