import type { AnswerOf, BodyOf, QueryOf } from './operations.ts';

/** Shapes of objects, uploads and listings: those of the routes, under the names that this SDK gives them. */

export type ObjectPage = AnswerOf<'GET /buckets/{name}/objects'>;
/** An entry of a listing. */
export type StoredObject = ObjectPage['objects'][number];
/** `delimiter` is typically `/`: what follows it is folded into `prefixes`. `limit` is 1 to 1,000. */
export type ObjectListQuery = QueryOf<'GET /buckets/{name}/objects'>;
/** What is said of an object that was just stored. */
export type UploadedObject = AnswerOf<'PUT /buckets/{name}/objects/content'>;

export type VersionPage = AnswerOf<'GET /buckets/{name}/objects/versions'>;
export type ObjectVersion = VersionPage['versions'][number];
export type VersionQuery = QueryOf<'GET /buckets/{name}/objects/versions'>;

/** What goes with the bytes of an object. */
export interface ObjectAttributes {
  contentType?: string | undefined;
  cacheControl?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
}

type Presigning = BodyOf<'POST /buckets/{name}/objects/presign'>;
/** What all URLs of one call have in common. */
export type PresignRequest = Omit<Presigning, 'key' | 'keys' | 'multipart'>;
/** Its headers are to be sent with it as they are. */
export type PresignedUrl = NonNullable<AnswerOf<'POST /buckets/{name}/objects/presign'>['urls']>[number];

export type StartedUpload = AnswerOf<'POST /buckets/{name}/objects/multipart'>;
export type PendingUpload = AnswerOf<'GET /buckets/{name}/objects/multipart'>['uploads'][number];
export type UploadPart = AnswerOf<'GET /buckets/{name}/objects/multipart/{uploadId}/parts'>['parts'][number];
/** What completion needs to know of a part. */
export type CompletedPart = Pick<UploadPart, 'partNumber' | 'etag'>;

export type DeletedObject = AnswerOf<'DELETE /buckets/{name}/objects'>;
export type DeletedObjects = AnswerOf<'POST /buckets/{name}/objects/delete'>;
