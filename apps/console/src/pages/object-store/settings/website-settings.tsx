import { useState } from 'react';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { SaveRow } from './save-row.tsx';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

/** Serves an index page for folders and an error page for missing objects. */
export function WebsiteSettings({ settings, locked }: SettingsPartProps) {
  const save = useSaveSettings();
  const [enabled, setEnabled] = useState(settings.website !== null);
  const [index, setIndex] = useState(settings.website?.index ?? 'index.html');
  const [error, setError] = useState(settings.website?.error ?? '');
  const website = enabled ? { index: index.trim(), error: error.trim() === '' ? null : error.trim() } : null;
  const { index: savedIndex, error: savedError } = settings.website ?? {};
  const changed =
    (website === null) !== (settings.website === null) ||
    website?.index !== savedIndex ||
    (website?.error ?? null) !== (savedError ?? null);
  return (
    <Section title="Website" description="Served on the bucket’s custom domains.">
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ website });
          }}
        >
          <FieldStack>
            <Switch label="Serve this bucket as a website" checked={enabled} disabled={locked} onChange={setEnabled} />
            {enabled && (
              <>
                <TextField
                  label="Index document"
                  value={index}
                  disabled={locked}
                  required
                  spellCheck={false}
                  onChange={(event) => setIndex(event.target.value)}
                />
                <TextField
                  label="Error document"
                  value={error}
                  disabled={locked}
                  placeholder="404.html"
                  spellCheck={false}
                  onChange={(event) => setError(event.target.value)}
                />
              </>
            )}
          </FieldStack>
          <SaveRow state={save} locked={locked} disabled={!changed || website?.index === ''} />
        </form>
      </Panel>
    </Section>
  );
}
