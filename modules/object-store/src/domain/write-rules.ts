import type { QuotaLimits } from '@svc/quotas';
import type { WriteQuota } from './ports/records.ts';
import type { EventOrigin, NotifyRule } from './ports/notifications.ts';
import type { BucketRecord } from './ports/records.ts';
import type { BucketConfigurations } from './bucket-configurations.ts';
import { readStoredSettings } from './settings/bucket-settings.ts';
import { parseNotificationDocument, type NotificationRule } from './notifications/notification-document.ts';

/** What a bucket's configuration requires of an object write. */
export interface WriteRules {
  quota: WriteQuota;
  notify?: NotifyRule;
}

const NO_ORIGIN: EventOrigin = { principal: '', requestId: '', sourceAddress: '' };

export async function readWriteRules(
  configurations: BucketConfigurations,
  quotaLimits: QuotaLimits,
  bucket: BucketRecord,
  key: string,
  origin: EventOrigin = NO_ORIGIN,
): Promise<WriteRules> {
  const tenant = await quotaLimits.readLimits(bucket.workspaceUuid);
  if (bucket.configurationVersion === 0) return { quota: { tenant } };
  const configuration = await configurations.of(bucket);
  const { quota } = readStoredSettings(configuration);
  const told = rulesFor(key, configuration.parsed('notification', parseNotificationDocument)?.rules ?? []);
  return {
    quota: {
      tenant,
      ...(quota === undefined
        ? {}
        : { bucket: { maxBytes: quota.maxBytes ?? null, maxObjects: quota.maxObjects ?? null } }),
    },
    ...(told.length === 0 ? {} : { notify: { rules: told, origin } }),
  };
}

function rulesFor(key: string, rules: readonly NotificationRule[]): NotifyRule['rules'] {
  return rules
    .filter((rule) => rule.enabled && key.startsWith(rule.prefix) && key.endsWith(rule.suffix))
    .map(({ id, events }) => ({ destination: id, patterns: events }));
}
