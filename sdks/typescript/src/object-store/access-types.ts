import type { AnswerOf, BodyOf } from './operations.ts';

/** Shapes of access keys and custom domains: those of the routes, under the names that this SDK gives them. */

export type AccessKey = AnswerOf<'GET /keys'>['keys'][number];
export type KeyPermission = AccessKey['permissions'][number];
/** By default it is called `dashboard`, reads and writes, in all buckets, for ever. */
export type NewAccessKey = BodyOf<'POST /keys'>;
/** The one answer that carries the secret. */
export type CreatedAccessKey = AnswerOf<'POST /keys'>;

export type CustomDomain = AnswerOf<'GET /domains'>['domains'][number];
export type DomainStatus = CustomDomain['status'];
