import type { AnswerOf, BodyOf } from './operations.ts';

/**
 * Shapes of the store, of buckets and of what is set on them: those of the routes, under the names that this SDK gives
 * them. All times are ISO 8601, UTC, with milliseconds.
 */

export type StoreStatus = AnswerOf<'GET /'>;

export type Bucket = AnswerOf<'GET /buckets'>['buckets'][number];
export type VersioningStatus = Bucket['versioning'];
export type EncryptionMode = Bucket['encryption_mode'];
export type NewBucket = BodyOf<'POST /buckets'>;
/** An entry of the deleted ones; `purge_at` is null when nothing can be restored. */
export type DeletedBucket = AnswerOf<'GET /buckets/deleted'>['buckets'][number];
export type BucketDeletion = AnswerOf<'DELETE /buckets/{name}'>;

export type BucketSettings = AnswerOf<'GET /buckets/{name}/settings'>;
/** Absent fields stay as they are; null puts the default back. */
export type BucketSettingsChange = BodyOf<'PUT /buckets/{name}/settings'>;
export type CorsRule = NonNullable<BucketSettingsChange['cors_rules']>[number];
export type BucketWebsite = NonNullable<BucketSettingsChange['website']>;
export type BucketNotifications = NonNullable<BucketSettingsChange['notifications']>;

export type Notifications = AnswerOf<'GET /buckets/{name}/notifications'>;
export type NotificationRule = BodyOf<'PUT /buckets/{name}/notifications'>['rules'][number];
export type WebhookTest = AnswerOf<'POST /buckets/{name}/notifications/test'>;
export type WebhookSecret = AnswerOf<'GET /buckets/{name}/notifications/secret'>;

export type BucketLocation = AnswerOf<'GET /buckets/{name}/location'>;
export type BucketUrls = AnswerOf<'GET /urls'>;

/** What is stored: every field filled in. */
export type Lifecycle = AnswerOf<'GET /buckets/{name}/lifecycle'>;
/** Rules in our form, or in the JSON of `aws s3api put-bucket-lifecycle-configuration`. */
export type LifecycleChange = BodyOf<'PUT /buckets/{name}/lifecycle'>;
export type LifecycleRule = NonNullable<LifecycleChange['rules']>[number];
