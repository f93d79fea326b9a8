import { startWebhookReceiver, type ReceivedWebhook as Received, type WebhookReceiver as Receiver } from '@svc/testing';

export interface ReceivedEvent {
  /** The fields of the event record that tests check. */
  name: string;
  key: string;
  sequencer: string;
}

/** `event` is from the S3 message; null for the test event. */
export type ReceivedWebhook = Received<ReceivedEvent | null>;

export type WebhookReceiver = Receiver<ReceivedEvent | null>;

export function startReceiver(): Promise<WebhookReceiver> {
  return startWebhookReceiver(parseEvent);
}

function parseEvent(body: string): ReceivedEvent | null {
  const message = JSON.parse(body) as {
    Records?: { eventName: string; s3: { object: { key: string; sequencer: string } } }[];
  }; // the S3 message; a test fails on any other
  const record = message.Records?.[0];
  if (record === undefined) return null;
  return { name: record.eventName, key: record.s3.object.key, sequencer: record.s3.object.sequencer };
}
