import { useState } from 'react';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { SaveRow } from './save-row.tsx';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

/** Public read access and cache lifetime. */
export function AccessSettings({ settings, locked }: SettingsPartProps) {
  const publish = useSaveSettings();
  const save = useSaveSettings();
  const [asking, setAsking] = useState(false);
  const [cacheControl, setCacheControl] = useState(settings.cacheControl ?? '');
  const change = (publicDefault: boolean): void =>
    publish.mutate({ publicDefault }, { onSuccess: () => setAsking(false) });
  return (
    <Section title="Public access">
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ cacheControl: cacheControl.trim() === '' ? null : cacheControl.trim() });
          }}
        >
          <FieldStack>
            <Switch
              label="Public read access"
              description="Anyone who knows the key of an object can read it without signing in. Listing stays private."
              checked={settings.publicDefault}
              disabled={locked || publish.isPending}
              onChange={(checked) => (checked ? setAsking(true) : change(false))}
            />
            {!asking && <FormError error={publish.error} />}
            <TextField
              label="Cache-Control for public responses"
              value={cacheControl}
              disabled={locked}
              placeholder="public, max-age=3600"
              hint="Used for objects that do not set their own."
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setCacheControl(event.target.value)}
            />
          </FieldStack>
          <SaveRow state={save} locked={locked} disabled={cacheControl.trim() === (settings.cacheControl ?? '')} />
        </form>
      </Panel>
      <ConfirmDialog
        open={asking}
        onClose={() => {
          publish.reset();
          setAsking(false);
        }}
        onConfirm={() => change(true)}
        title="Make all objects public?"
        action="Make public"
        pending={publish.isPending}
        error={publish.error}
      >
        Anyone who knows or guesses a key can read the object, including objects uploaded later.
      </ConfirmDialog>
    </Section>
  );
}
