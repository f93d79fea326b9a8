import type { NewWebhook, Webhook } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent, type RefObject } from 'react';
import { useSandboxes, webhooksQuery } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { formText } from '../../../ui/form-text.ts';
import { Switch } from '../../../ui/switch.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { EVENT_TYPES, eventLabel, type EventType } from '../events/event-labels.ts';
import styles from './webhooks.module.css';

/** A webhook that is changed, or a new one. */
export type EditedWebhook = Webhook | 'new';

interface WebhookDialogProps {
  webhook: EditedWebhook | null;
  onClose: () => void;
  /** Receives the secret of a new webhook. */
  onCreated: (secret: string) => void;
}

/** Creates a webhook, or changes one. */
export function WebhookDialog({ webhook, onClose, onCreated }: WebhookDialogProps) {
  const first = useRef<HTMLInputElement>(null);
  const title = webhook === null || webhook === 'new' ? 'New webhook' : 'Edit webhook';
  return (
    <Dialog open={webhook !== null} onClose={onClose} title={title} initialFocus={first}>
      {webhook !== null && <WebhookForm firstRef={first} webhook={webhook} onClose={onClose} onCreated={onCreated} />}
    </Dialog>
  );
}

interface WebhookFormProps extends WebhookDialogProps {
  webhook: EditedWebhook;
  firstRef: RefObject<HTMLInputElement | null>;
}

function WebhookForm({ firstRef, webhook, onClose, onCreated }: WebhookFormProps) {
  const known = webhook === 'new' ? null : webhook;
  const save = useSaveWebhook(known, onClose, onCreated);
  const [events, setEvents] = useState<readonly EventType[] | null>(known?.events ?? null);
  const [isEnabled, setEnabled] = useState(known?.enabled ?? true);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    save.mutate({
      url: formText(form, 'url').trim(),
      description: formText(form, 'description').trim(),
      events: events === null ? null : [...events],
      enabled: isEnabled,
    });
  };
  return (
    <form onSubmit={submit}>
      <FieldStack>
        <TextField
          ref={firstRef}
          label="URL"
          name="url"
          type="url"
          required
          maxLength={2048}
          defaultValue={known?.url}
          placeholder="https://example.com/hook"
        />
        <TextField label="Description" name="description" maxLength={200} defaultValue={known?.description} />
        <EventChoice events={events} onChange={setEvents} />
        {known !== null && (
          <Switch
            label="Send events"
            description="A webhook that is turned on again receives new events only."
            checked={isEnabled}
            onChange={setEnabled}
          />
        )}
      </FieldStack>
      <FormError error={save.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={save.isPending} disabled={events?.length === 0}>
          {known === null ? 'Create webhook' : 'Save'}
        </Button>
      </DialogActions>
    </form>
  );
}

function useSaveWebhook(known: Webhook | null, onClose: () => void, onCreated: (secret: string) => void) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  return useMutation({
    mutationFn: async (settings: NewWebhook): Promise<string | null> => {
      if (known === null) return (await api.webhooks.create(settings)).secret;
      await api.webhooks.update(known.id, settings);
      return null;
    },
    onSuccess: (secret) => {
      onClose();
      if (secret === null) done('Webhook saved');
      else onCreated(secret);
      return queryClient.invalidateQueries(webhooksQuery(api, workspace));
    },
  });
}

interface EventChoiceProps {
  /** Null for all, including types that a later version adds. */
  events: readonly EventType[] | null;
  onChange: (events: readonly EventType[] | null) => void;
}

function EventChoice({ events, onChange }: EventChoiceProps) {
  return (
    <fieldset className={styles['events']}>
      <legend className={styles['legend']}>Events</legend>
      <Checkbox label="All events" checked={events === null} onChange={(all) => onChange(all ? null : [])} />
      {events !== null && (
        <div className={styles['types']}>
          {EVENT_TYPES.map((type) => (
            <Checkbox
              key={type}
              label={eventLabel({ type }).label}
              checked={events.includes(type)}
              onChange={(on) => onChange(on ? [...events, type] : events.filter((each) => each !== type))}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}
