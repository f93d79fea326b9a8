import { defineOperation, type BucketHandler } from '../operation.ts';
import type { NotificationRule } from '../../domain/notifications/notification-document.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { children, childText, parseXml, readText, type XmlElement } from '../xml-reader.ts';
import type { XmlNode } from '../xml-writer.ts';

const MAX_DOCUMENT_BYTES = 256 * 1024;
/** S3 sees a webhook as a queue or topic whose name is its URL. */
const ARN_PREFIX = 'arn:svc:webhook:::';
const KINDS = { QueueConfiguration: 'Queue', TopicConfiguration: 'Topic' } as const;
const NOT_HERE = ['CloudFunctionConfiguration', 'EventBridgeConfiguration'];

const getBucketNotification: BucketHandler = async (context) => {
  const rules = await context.services.notifications.rules(context.bucket);
  const enabled = rules.filter((rule) => rule.enabled);
  respondXml(context.response, 'NotificationConfiguration', {
    TopicConfiguration: enabled.filter(({ topic }) => topic === true).map((rule) => toElement(rule, 'Topic')),
    QueueConfiguration: enabled.filter(({ topic }) => topic !== true).map((rule) => toElement(rule, 'Queue')),
  });
};

/** Replaces the whole configuration. An empty one disables notifications. */
const putBucketNotification: BucketHandler = async (context) => {
  const rules = readNotificationRules(await receiveDocument(context, MAX_DOCUMENT_BYTES));
  const { services } = context;
  const { name } = context.bucket;
  await services.notifications.replaceRules(() => services.buckets.get(name), rules);
  respondEmpty(context.response, 200);
};

function readNotificationRules(xml: string): readonly NotificationRule[] {
  const root = parseXml(xml, 'NotificationConfiguration');
  for (const name of NOT_HERE) {
    if (children(root, name).length > 0) throw storeErrors.NotImplemented({ details: { operation: name } });
  }
  return Object.entries(KINDS).flatMap(([name, arnName]) =>
    children(root, name).map((element, index) => readRule(element, arnName, index)),
  );
}

function readRule(element: XmlElement, kind: 'Queue' | 'Topic', index: number): NotificationRule {
  const arn = childText(element, kind);
  if (arn === undefined) throw storeErrors.MalformedXML();
  if (!arn.startsWith(ARN_PREFIX)) {
    throw invalid(`The ARN is not well formed: a webhook is written as ${ARN_PREFIX} and its URL`);
  }
  const events = children(element, 'Event').map((event) => readText(event));
  if (events.length === 0) throw storeErrors.MalformedXML();
  const id = childText(element, 'Id') ?? `${kind.toLowerCase()}-${index + 1}`;
  if (id.length === 0 || id.length > 255) throw invalid('The ID is not 1 to 255 characters long');
  const topic = kind === 'Topic' ? { topic: true } : {};
  return { id, enabled: true, webhook: arn.slice(ARN_PREFIX.length), events, ...readFilter(element), ...topic };
}

function readFilter(element: XmlElement): { prefix: string; suffix: string } {
  const filter = { prefix: '', suffix: '' };
  const seen = new Set<string>();
  for (const rule of children(element, 'Filter').flatMap((each) => children(each, 'S3Key'))) {
    for (const part of children(rule, 'FilterRule')) {
      const name = (childText(part, 'Name') ?? '').toLowerCase();
      if (name !== 'prefix' && name !== 'suffix') throw invalid('filter rule name must be either prefix or suffix');
      if (seen.has(name)) throw invalid(`Cannot specify more than one ${name} rule in a filter.`);
      seen.add(name);
      const value = childText(part, 'Value') ?? '';
      if (Buffer.byteLength(value) > 1_024)
        throw invalid('Size of filter rule value cannot exceed 1024 bytes in UTF-8');
      filter[name] = value;
    }
  }
  return filter;
}

function toElement({ id, webhook, events, prefix, suffix }: NotificationRule, kind: 'Queue' | 'Topic'): XmlNode {
  const filters = [
    ...(prefix === '' ? [] : [{ Name: 'prefix', Value: prefix }]),
    ...(suffix === '' ? [] : [{ Name: 'suffix', Value: suffix }]),
  ];
  return {
    Id: id,
    [kind]: ARN_PREFIX + webhook,
    Event: [...events],
    ...(filters.length === 0 ? {} : { Filter: { S3Key: { FilterRule: filters } } }),
  };
}

function invalid(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { reason } });
}

export const notificationsOperations = [
  defineOperation({
    name: 'GetBucketNotificationConfiguration',
    on: 'bucket',
    method: 'GET',
    subresource: 'notification',
    action: 's3:GetBucketNotification',
    needs: 'bucket:read',
    handle: getBucketNotification,
  }),
  defineOperation({
    name: 'PutBucketNotificationConfiguration',
    on: 'bucket',
    method: 'PUT',
    subresource: 'notification',
    action: 's3:PutBucketNotification',
    needs: 'bucket:update',
    handle: putBucketNotification,
  }),
];
