import type { AnswerOf, BodyOf, QueryOf } from './operations.ts';

/** Types of objects, uploads and listings: those of the routes, under the SDK's names. */

export type ObjectPage = AnswerOf<'GET /buckets/{name}/objects'>;
/** An object in a listing. */
export type StoredObject = ObjectPage['objects'][number];
/**
 * `delimiter` is typically `/`: keys that share the part up to it are grouped into `prefixes`. `limit` is 1 to 1,000.
 */
export type ObjectListQuery = QueryOf<'GET /buckets/{name}/objects'>;
/** An object that was just stored. */
export type UploadedObject = AnswerOf<'PUT /buckets/{name}/objects/content'>;

/** One page of object versions and delete markers. */
export type VersionPage = AnswerOf<'GET /buckets/{name}/objects/versions'>;
/** A version of an object, or a delete marker. */
export type ObjectVersion = VersionPage['versions'][number];
/** Filters for lists of versions. */
export type VersionQuery = QueryOf<'GET /buckets/{name}/objects/versions'>;

/** Attributes of an object to upload. */
export interface ObjectAttributes {
  contentType?: string | undefined;
  cacheControl?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
}

type Presigning = BodyOf<'POST /buckets/{name}/objects/presign'>;
/** The options shared by all URLs of one call. */
export type PresignRequest = Omit<Presigning, 'key' | 'keys' | 'multipart'>;
/** A presigned URL. Send its headers unchanged. */
export type PresignedUrl = NonNullable<AnswerOf<'POST /buckets/{name}/objects/presign'>['urls']>[number];

/** A multipart upload that was just started. */
export type StartedUpload = AnswerOf<'POST /buckets/{name}/objects/multipart'>;
/** A multipart upload that is neither complete nor aborted. */
export type PendingUpload = AnswerOf<'GET /buckets/{name}/objects/multipart'>['uploads'][number];
/** An uploaded part. */
export type UploadPart = AnswerOf<'GET /buckets/{name}/objects/multipart/{uploadId}/parts'>['parts'][number];
/** The fields of a part that completion requires. */
export type CompletedPart = Pick<UploadPart, 'partNumber' | 'etag'>;

/** Outcome of deleting one object. */
export type DeletedObject = AnswerOf<'DELETE /buckets/{name}/objects'>;
/** Outcome of deleting several objects, by key. */
export type DeletedObjects = AnswerOf<'POST /buckets/{name}/objects/delete'>;
