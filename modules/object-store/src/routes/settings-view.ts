import type { BucketConfiguration } from '../domain/bucket-configurations.ts';
import { readSettings, readStoredSettings, type StoredSettings } from '../domain/settings/bucket-settings.ts';
import type { DocumentChange } from '../domain/settings/edit-documents.ts';
import { parseCorsDocument, type CorsDocument } from '../domain/settings/shared-documents.ts';
import {
  DEFAULT_RULE_ID,
  parseNotificationDocument,
  withRules,
  type NotificationDocument,
} from '../domain/notifications/notification-document.ts';
import type { NotificationService } from '../domain/notifications/notification-service.ts';
import { parseWebsiteDocument, type WebsiteDocument } from '../domain/website/website-document.ts';
import type { SettingsBody, SettingsView } from './settings-schemas.ts';

/** Returns all settings of a bucket, whichever documents hold them. */
export function toSettingsView(configuration: BucketConfiguration, defaultRetentionDays: number): SettingsView {
  const settings = readSettings(configuration, defaultRetentionDays);
  const website = configuration.parsed('website', parseWebsiteDocument);
  return {
    publicDefault: settings.publicDefault,
    cacheControl: settings.cacheControl,
    cors_rules: toCorsView(configuration.parsed('cors', parseCorsDocument)),
    soft_delete: { enabled: settings.softDelete.enabled, retention_days: settings.softDelete.retentionDays },
    max_object_size: settings.maxObjectSizeBytes,
    allowed_content_types: settings.allowedContentTypes === null ? null : [...settings.allowedContentTypes],
    quota: { max_bytes: settings.quota.maxBytes, max_objects: settings.quota.maxObjects },
    website: website?.index === undefined ? null : { index: website.index, error: website.error ?? null },
    notifications: toNotificationsView(configuration.parsed('notification', parseNotificationDocument)),
  };
}

function toCorsView(document: CorsDocument | null): SettingsView['cors_rules'] {
  return (document?.rules ?? []).map((rule) => ({
    ...(rule.id === undefined ? {} : { id: rule.id }),
    allowed_origins: [...rule.allowedOrigins],
    allowed_methods: [...rule.allowedMethods],
    allowed_headers: [...rule.allowedHeaders],
    expose_headers: [...rule.exposeHeaders],
    max_age_seconds: rule.maxAgeSeconds,
  }));
}

/** The settings show a single rule. `/notifications` shows all rules of a bucket. */
function toNotificationsView(document: NotificationDocument | null): SettingsView['notifications'] {
  const rule = document?.rules[0];
  return rule === undefined ? null : { ...rule, events: [...rule.events] };
}

/** Returns the documents after a change: absent fields stay unchanged, null resets to the default. */
export function mergeSettings(
  configuration: BucketConfiguration,
  body: SettingsBody,
  checks: Pick<NotificationService, 'check'>,
): readonly DocumentChange[] {
  const changes: DocumentChange[] = [];
  const stored = mergeStored(readStoredSettings(configuration), body);
  changes.push({ name: 'settings', document: Object.keys(stored).length === 0 ? null : JSON.stringify(stored) });
  const { cors_rules: cors, website, notifications } = body;
  if (cors !== undefined) changes.push({ name: 'cors', document: fromCorsRules(cors ?? []) });
  if (website !== undefined) {
    const before = configuration.parsed('website', parseWebsiteDocument);
    changes.push({ name: 'website', document: fromWebsite(before, website) });
  }
  if (notifications !== undefined) {
    const before = configuration.parsed('notification', parseNotificationDocument);
    changes.push({ name: 'notification', document: fromNotifications(before, notifications, checks) });
  }
  return changes;
}

function mergeStored(stored: StoredSettings, body: SettingsBody): StoredSettings {
  const softDelete = mergeGroup(stored.softDelete ?? {}, body.soft_delete, {
    enabled: body.soft_delete?.enabled,
    retentionDays: body.soft_delete?.retention_days,
  });
  const quota = mergeGroup(stored.quota ?? {}, body.quota, {
    maxBytes: body.quota?.max_bytes,
    maxObjects: body.quota?.max_objects,
  });
  const { softDelete: _softDelete, quota: _quota, ...rest } = stored;
  const merged = mergeFields(rest, {
    publicDefault: body.publicDefault,
    cacheControl: body.cacheControl,
    maxObjectSizeBytes: body.max_object_size,
    allowedContentTypes: body.allowed_content_types,
  });
  return {
    ...merged,
    ...(Object.keys(softDelete).length === 0 ? {} : { softDelete }),
    ...(Object.keys(quota).length === 0 ? {} : { quota }),
  };
}

type Change<Shape> = { [Name in keyof Shape]?: Shape[Name] | null | undefined };

/** A null group resets all of its fields. */
function mergeGroup<Shape extends object>(
  stored: Shape,
  given: object | null | undefined,
  change: Change<Shape>,
): Shape {
  if (given === undefined) return stored;
  return mergeFields((given === null ? {} : stored) as Shape, change); // every field of a stored group is optional
}

function mergeFields<Shape extends object>(stored: Shape, change: Change<Shape>): Shape {
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(stored));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete merged[name];
    else if (value !== undefined) merged[name] = value;
  }
  return merged as Shape; // the fields of `change` are those of `Shape`
}

function fromCorsRules(rules: NonNullable<SettingsBody['cors_rules']>): string | null {
  if (rules.length === 0) return null;
  const document: CorsDocument = {
    rules: rules.map((rule) => ({
      ...(rule.id === undefined ? {} : { id: rule.id }),
      allowedOrigins: rule.allowed_origins,
      allowedMethods: rule.allowed_methods,
      allowedHeaders: rule.allowed_headers ?? [],
      exposeHeaders: rule.expose_headers ?? [],
      maxAgeSeconds: rule.max_age_seconds ?? null,
    })),
  };
  return JSON.stringify(document);
}

/** Keeps routing rules, which only S3 clients set. */
function fromWebsite(
  before: WebsiteDocument | null,
  website: NonNullable<SettingsBody['website']> | null,
): string | null {
  if (website === null) return null;
  const document: WebsiteDocument = {
    ...(before?.routingRules === undefined ? {} : { routingRules: before.routingRules }),
    index: website.index,
    ...(website.error === undefined || website.error === null ? {} : { error: website.error }),
  };
  return JSON.stringify(document);
}

/** Replaces the rule with that id and keeps the others; null removes all rules. */
function fromNotifications(
  before: NotificationDocument | null,
  notifications: NonNullable<SettingsBody['notifications']> | null,
  checks: Pick<NotificationService, 'check'>,
): string | null {
  const rules = notifications === null ? [] : replaceRule(before?.rules ?? [], notifications);
  checks.check(rules);
  const document = withRules(before, rules);
  return document === null ? null : JSON.stringify(document);
}

function replaceRule(
  rules: NotificationDocument['rules'],
  given: NonNullable<SettingsBody['notifications']>,
): NotificationDocument['rules'] {
  const { id = rules[0]?.id ?? DEFAULT_RULE_ID, enabled = true, webhook, events, prefix = '', suffix = '' } = given;
  const rule = { id, enabled, webhook, events, prefix, suffix };
  const known = rules.some((each) => each.id === id);
  return known ? rules.map((each) => (each.id === id ? rule : each)) : [...rules, rule];
}
