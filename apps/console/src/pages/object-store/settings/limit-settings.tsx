import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bucketsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { isSame } from '../../../ui/is-same.ts';
import { Definitions, Panel, Section } from '../../../ui/page.tsx';
import { Meter } from '../../../ui/plots.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import { createDraft, parseLimitDraft, type LimitDraft, type LimitFaults } from './limit-draft.ts';
import { SaveRow } from './save-row.tsx';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

/** Limits on the bucket's size and contents. */
export function LimitSettings({ settings, locked }: SettingsPartProps) {
  const save = useSaveSettings();
  const [draft, setDraft] = useState(() => createDraft(settings));
  const { change, faults } = parseLimitDraft(draft);
  const changed = !isSame(draft, createDraft(settings));
  const fault = Object.values(faults).some((each) => each !== undefined);
  return (
    <Section title="Limits" description="Uploads over a limit are rejected. Leave a field empty for no limit.">
      <Panel>
        <FieldStack>
          <Used settings={settings} locked={locked} />
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (!fault) save.mutate(change);
            }}
          >
            <LimitFields
              draft={draft}
              faults={faults}
              locked={locked}
              onChange={(changes) => setDraft({ ...draft, ...changes })}
            />
            <SaveRow state={save} locked={locked} disabled={fault || !changed} />
          </form>
        </FieldStack>
      </Panel>
    </Section>
  );
}

interface LimitFieldsProps {
  draft: LimitDraft;
  faults: LimitFaults;
  locked: boolean;
  onChange: (changes: Partial<LimitDraft>) => void;
}

const FIELDS = [
  ['bytes', 'Total size'],
  ['objects', 'Total objects'],
  ['largest', 'Maximum object size'],
] as const;

function LimitFields({ draft, faults, locked, onChange }: LimitFieldsProps) {
  return (
    <FieldStack>
      {FIELDS.map(([field, label]) => (
        <TextField
          key={field}
          label={label}
          value={draft[field]}
          disabled={locked}
          placeholder="No limit"
          error={faults[field]}
          onChange={(event) => onChange({ [field]: event.target.value })}
        />
      ))}
      <TextArea
        label="Allowed content types"
        value={draft.types}
        disabled={locked}
        placeholder="All types"
        hint="One per line, for example image/png or image/*."
        error={faults.types}
        onChange={(event) => onChange({ types: event.target.value })}
      />
    </FieldStack>
  );
}

function Used({ settings }: SettingsPartProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const name = useBucketName();
  const { data: buckets } = useQuery(bucketsQuery(svc, workspace));
  const bucket = buckets?.find((each) => each.name === name);
  if (bucket === undefined) return null;
  const { max_bytes: maxBytes, max_objects: maxObjects } = settings.quota;
  return (
    <Definitions
      items={[
        [
          'Size',
          <span key="bytes">
            {formatBytes(bucket.size_bytes)}
            {maxBytes !== null && <Meter label="Size limit" value={bucket.size_bytes} limit={maxBytes} />}
          </span>,
        ],
        [
          'Objects',
          <span key="objects">
            {formatCount(bucket.object_count)}
            {maxObjects !== null && <Meter label="Object limit" value={bucket.object_count} limit={maxObjects} />}
          </span>,
        ],
      ]}
    />
  );
}
