import type { AnswerOf, BodyOf } from './operations.ts';

/**
 * Types of the store, of buckets and their settings: those of the routes, under the SDK's names. All times are ISO
 * 8601, UTC, with milliseconds.
 */

export type StoreStatus = AnswerOf<'GET /'>;

/** A bucket. */
export type Bucket = AnswerOf<'GET /buckets'>['buckets'][number];
/** Whether a bucket keeps versions of its objects. */
export type VersioningStatus = Bucket['versioning'];
/** Default encryption of new objects. */
export type EncryptionMode = Bucket['encryption_mode'];
/** A bucket to create. */
export type NewBucket = BodyOf<'POST /buckets'>;
/** A deleted bucket; `purge_at` is null if nothing can be restored. */
export type DeletedBucket = AnswerOf<'GET /buckets/deleted'>['buckets'][number];
/** A bucket that was made as a fork of another one. */
export type BucketFork = AnswerOf<'GET /buckets/{name}/fork'>;
/** Outcome of a bucket deletion. */
export type BucketDeletion = AnswerOf<'DELETE /buckets/{name}'>;

/** Settings of a bucket, with defaults filled in. */
export type BucketSettings = AnswerOf<'GET /buckets/{name}/settings'>;
/** Absent fields stay unchanged; null restores the default. */
export type BucketSettingsChange = BodyOf<'PUT /buckets/{name}/settings'>;
/** A CORS rule of a bucket. */
export type CorsRule = NonNullable<BucketSettingsChange['cors_rules']>[number];
/** Static website settings of a bucket. */
export type BucketWebsite = NonNullable<BucketSettingsChange['website']>;
/** Webhook settings of a bucket. */
export type BucketNotifications = NonNullable<BucketSettingsChange['notifications']>;

/** Webhook rules of a bucket and their delivery state. */
export type Notifications = AnswerOf<'GET /buckets/{name}/notifications'>;
/** A rule that sends events to a webhook. */
export type NotificationRule = BodyOf<'PUT /buckets/{name}/notifications'>['rules'][number];
/** Outcome of a test event. */
export type WebhookTest = AnswerOf<'POST /buckets/{name}/notifications/test'>;
/** The secret that signs webhooks. */
export type WebhookSecret = AnswerOf<'GET /buckets/{name}/notifications/secret'>;

/** Where a bucket is stored. */
export type BucketLocation = AnswerOf<'GET /buckets/{name}/location'>;
/** The URLs of a bucket. */
export type BucketUrls = AnswerOf<'GET /urls'>;

/** Stored lifecycle rules, with every field filled in. */
export type Lifecycle = AnswerOf<'GET /buckets/{name}/lifecycle'>;
/** Lifecycle rules in the platform's format or in the JSON of `aws s3api put-bucket-lifecycle-configuration`. */
export type LifecycleChange = BodyOf<'PUT /buckets/{name}/lifecycle'>;
/** A rule that expires objects, versions or uploads. */
export type LifecycleRule = NonNullable<LifecycleChange['rules']>[number];
