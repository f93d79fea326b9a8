import type { DueNotification } from '../ports/notifications.ts';
import type { BucketRecord } from '../ports/records.ts';
import { createOwner } from '../access/owner-identity.ts';

/**
 * The body of a webhook: S3's event message, version 2.3. Of two events of one key, the one with the greater
 * `sequencer` is later.
 */
export function eventMessage(notification: DueNotification, bucket: BucketRecord, region: string): string {
  const { event } = notification;
  const record = {
    eventVersion: '2.3',
    eventSource: 'svc:s3',
    awsRegion: region,
    eventTime: new Date(event.timeMs).toISOString(),
    eventName: event.name,
    userIdentity: { principalId: event.origin.principal },
    requestParameters: { sourceIPAddress: event.origin.sourceAddress },
    responseElements: { 'x-amz-request-id': event.origin.requestId },
    s3: {
      s3SchemaVersion: '1.0',
      configurationId: notification.destination,
      bucket: {
        name: bucket.name,
        ownerIdentity: { principalId: createOwner(bucket.workspaceUuid).id },
        arn: `arn:aws:s3:::${bucket.name}`,
      },
      object: {
        key: encodedKey(notification.key),
        ...(event.etag === '' ? {} : { size: event.sizeBytes, eTag: event.etag }),
        ...(event.versionId === null ? {} : { versionId: event.versionId }),
        sequencer: notification.id.toString(16).toUpperCase().padStart(16, '0'),
      },
    },
  };
  return JSON.stringify({ Records: [record] });
}

/** S3's test message, which checks that the receiver responds. */
export function testMessage(bucket: BucketRecord, requestId: string, nowMs: number): string {
  return JSON.stringify({
    Service: 'svc:s3',
    Event: 's3:TestEvent',
    Time: new Date(nowMs).toISOString(),
    Bucket: bucket.name,
    RequestId: requestId,
  });
}

/** Keys in events are form-encoded, as in S3. */
function encodedKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
    .replaceAll('%2F', '/');
}
