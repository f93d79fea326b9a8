import { defineOperation, type BucketHandler, type ObjectHandler } from '../operation.ts';
import { isRetentionMode, parseObjectLockDocument, type ObjectLockDocument } from '../../domain/object-lock.ts';
import { storeErrors } from '../../errors.ts';
import type { AttributeChanges, ObjectAttributes, ObjectRetention } from '../../domain/ports/records.ts';
import { findObject } from '../access/find-object.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { assertLockable, mayBypassGovernance, parseRetainUntil } from '../object-lock-headers.ts';
import { versionHeaders } from '../object-headers.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import type { ObjectContext } from '../s3-context.ts';
import { children, childText, parseXml, type XmlElement } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 4 * 1024;
/** A hundred years. Longer locks are rejected, since a mistake could not be undone. */
const MAX_DAYS = 36_500;

const getObjectLockConfiguration: BucketHandler = async (context) => {
  const configuration = await context.services.configurations.of(context.bucket);
  const document = configuration.parsed('object-lock', parseObjectLockDocument);
  if (document === null) throw storeErrors.ObjectLockConfigurationNotFoundError();
  const { defaultRetention } = document;
  const Rule =
    defaultRetention === null
      ? undefined
      : {
          DefaultRetention: {
            Mode: defaultRetention.mode,
            Days: defaultRetention.days,
            Years: defaultRetention.years,
          },
        };
  respondXml(context.response, 'ObjectLockConfiguration', { ObjectLockEnabled: 'Enabled', Rule });
};

const putObjectLockConfiguration: BucketHandler = async (context) => {
  const xml = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  if (xml.trim() === '') throw storeErrors.MissingRequestBodyError();
  const document = readObjectLockDocument(xml);
  await context.services.configurations.put(context.bucket, 'object-lock', JSON.stringify(document));
  respondEmpty(context.response, 200);
};

const getObjectRetention: ObjectHandler = async (context) => {
  const { retention } = await findLocks(context);
  if (retention === undefined) throw storeErrors.NoSuchObjectLockConfiguration();
  respondXml(context.response, 'Retention', {
    Mode: retention.mode,
    RetainUntilDate: new Date(retention.untilMs).toISOString(),
  });
};

const putObjectRetention: ObjectHandler = async (context) => {
  const xml = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  const retention = readRetention(xml, context.services.deps.clock.nowMs());
  await assertLockable(context, context.bucket);
  await change(context, { retention });
};

const getObjectLegalHold: ObjectHandler = async (context) => {
  const { legalHold } = await findLocks(context);
  if (legalHold === undefined) throw storeErrors.NoSuchObjectLockConfiguration();
  respondXml(context.response, 'LegalHold', { Status: legalHold ? 'ON' : 'OFF' });
};

const putObjectLegalHold: ObjectHandler = async (context) => {
  const status = childText(parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'LegalHold'), 'Status');
  if (status !== 'ON' && status !== 'OFF') throw storeErrors.MalformedXML();
  await assertLockable(context, context.bucket);
  await change(context, { legalHold: status === 'ON' });
};

async function findLocks(context: ObjectContext): Promise<ObjectAttributes> {
  const { version } = await findObject(context);
  await assertLockable(context, context.bucket);
  return version.attributes;
}

async function change(context: ObjectContext, changes: AttributeChanges): Promise<void> {
  const { request, response, services } = context;
  const { bucket } = context;
  const versionId = request.query.versionId();
  const name = { key: context.key, ...(versionId === undefined ? {} : { versionId }) };
  const changed = await services.deps.metadata.changeAttributes({
    bucketId: bucket.id,
    ...name,
    changes,
    nowMs: services.deps.clock.nowMs(),
    bypassGovernance: mayBypassGovernance(context, name),
  });
  respondEmpty(response, 200, versionHeaders(bucket, changed.versionId));
}

export function readObjectLockDocument(xml: string): ObjectLockDocument {
  const root = parseXml(xml, 'ObjectLockConfiguration');
  if (childText(root, 'ObjectLockEnabled') !== 'Enabled') throw storeErrors.MalformedXML();
  const [rule, ...more] = children(root, 'Rule');
  if (more.length > 0) throw storeErrors.MalformedXML();
  if (rule === undefined) return { defaultRetention: null };
  const [retention] = children(rule, 'DefaultRetention');
  if (retention === undefined) throw storeErrors.MalformedXML();
  const mode = childText(retention, 'Mode') ?? '';
  const days = readPeriod(retention, 'Days');
  const years = readPeriod(retention, 'Years');
  if (!isRetentionMode(mode) || (days === undefined) === (years === undefined)) throw storeErrors.MalformedXML();
  const total = days ?? (years ?? 0) * 365;
  if (total < 1 || total > MAX_DAYS) throw storeErrors.InvalidRetentionPeriod();
  return {
    defaultRetention: { mode, ...(days === undefined ? {} : { days }), ...(years === undefined ? {} : { years }) },
  };
}

/** An empty document removes the retention, if that is allowed. */
export function readRetention(xml: string, nowMs: number): ObjectRetention | null {
  const root = parseXml(xml, 'Retention');
  const mode = childText(root, 'Mode');
  const until = childText(root, 'RetainUntilDate');
  if (mode === undefined && until === undefined) return null;
  const untilMs = parseRetainUntil(until ?? '');
  if (mode === undefined || !isRetentionMode(mode) || untilMs === null) throw storeErrors.MalformedXML();
  if (untilMs <= nowMs) {
    throw storeErrors.InvalidArgument({ details: { reason: 'The retain until date must be in the future!' } });
  }
  return { mode, untilMs };
}

function readPeriod(element: XmlElement, name: string): number | undefined {
  const text = childText(element, name)?.trim();
  if (text === undefined) return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw storeErrors.MalformedXML();
  return Number(text);
}

export const lockOperations = [
  defineOperation({
    name: 'GetObjectLockConfiguration',
    on: 'bucket',
    method: 'GET',
    subresource: 'object-lock',
    action: 's3:GetBucketObjectLockConfiguration',
    needs: 'bucket:read',
    handle: getObjectLockConfiguration,
  }),
  defineOperation({
    name: 'PutObjectLockConfiguration',
    on: 'bucket',
    method: 'PUT',
    subresource: 'object-lock',
    action: 's3:PutBucketObjectLockConfiguration',
    needs: 'bucket:update',
    handle: putObjectLockConfiguration,
  }),
  defineOperation({
    name: 'GetObjectRetention',
    on: 'object',
    method: 'GET',
    subresource: 'retention',
    action: 's3:GetObjectRetention',
    asks: 'object',
    needs: 'object:read',
    handle: getObjectRetention,
  }),
  defineOperation({
    name: 'PutObjectRetention',
    on: 'object',
    method: 'PUT',
    subresource: 'retention',
    action: 's3:PutObjectRetention',
    asks: 'object',
    needs: 'bucket:update',
    handle: putObjectRetention,
  }),
  defineOperation({
    name: 'GetObjectLegalHold',
    on: 'object',
    method: 'GET',
    subresource: 'legal-hold',
    action: 's3:GetObjectLegalHold',
    asks: 'object',
    needs: 'object:read',
    handle: getObjectLegalHold,
  }),
  defineOperation({
    name: 'PutObjectLegalHold',
    on: 'object',
    method: 'PUT',
    subresource: 'legal-hold',
    action: 's3:PutObjectLegalHold',
    asks: 'object',
    needs: 'bucket:update',
    handle: putObjectLegalHold,
  }),
];
