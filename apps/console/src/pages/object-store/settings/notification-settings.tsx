import { useState } from 'react';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { isSame } from '../../../ui/is-same.ts';
import { Panel, Section } from '../../../ui/page.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { SaveRow } from './save-row.tsx';
import styles from './settings.module.css';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

const EVENTS = [
  ['s3:ObjectCreated:*', 'Created'],
  ['s3:ObjectRemoved:*', 'Removed'],
  ['s3:LifecycleExpiration:*', 'Expired'],
] as const;

/** Sends the bucket's events to a webhook. */
export function NotificationSettings({ settings, locked }: SettingsPartProps) {
  const save = useSaveSettings();
  const [enabled, setEnabled] = useState(settings.notifications?.enabled ?? false);
  const [webhook, setWebhook] = useState(settings.notifications?.webhook ?? '');
  const [events, setEvents] = useState<readonly string[]>(
    settings.notifications?.events ?? EVENTS.slice(0, 2).map(([name]) => name),
  );
  const [prefix, setPrefix] = useState(settings.notifications?.prefix ?? '');
  const { notifications: saved } = settings;
  const notifications =
    webhook.trim() === ''
      ? null
      : { enabled, webhook: webhook.trim(), events: [...events], prefix, suffix: saved?.suffix ?? '' };
  const fieldsOf = (value: typeof notifications) =>
    value && [value.enabled, value.webhook, value.events.toSorted(), value.prefix];
  const changed = !isSame(fieldsOf(notifications), fieldsOf(saved ?? null));
  const toggle = (name: string, on: boolean): void =>
    setEvents(on ? [...events, name] : events.filter((each) => each !== name));
  const incomplete = enabled && (webhook.trim() === '' || events.length === 0);
  return (
    <Section title="Notifications" description="Events are sent to a webhook, signed, at least once.">
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ notifications });
          }}
        >
          <FieldStack>
            <Switch label="Send event notifications" checked={enabled} disabled={locked} onChange={setEnabled} />
            {enabled && (
              <>
                <TextField
                  label="Webhook URL"
                  type="url"
                  value={webhook}
                  disabled={locked}
                  required
                  placeholder="https://example.com/hook"
                  onChange={(event) => setWebhook(event.target.value)}
                />
                <div className={styles['boxes']}>
                  {EVENTS.map(([name, label]) => (
                    <Checkbox
                      key={name}
                      label={label}
                      checked={events.includes(name)}
                      disabled={locked}
                      onChange={(on) => toggle(name, on)}
                    />
                  ))}
                </div>
                <TextField
                  label="Key prefix"
                  value={prefix}
                  disabled={locked}
                  placeholder="All keys"
                  spellCheck={false}
                  onChange={(event) => setPrefix(event.target.value)}
                />
              </>
            )}
          </FieldStack>
          <SaveRow state={save} locked={locked} disabled={incomplete || !changed} />
        </form>
      </Panel>
    </Section>
  );
}
