import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bucketsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { formatBytes, parseBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Definitions, Panel, Section } from '../../../ui/page.tsx';
import { Meter } from '../../../ui/plots.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import { useBucketName } from '../buckets/bucket-page.tsx';
import { linesOf } from './lines.ts';
import { SaveRow } from './save-row.tsx';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

/** How much may be in it, and of what. An empty field is no limit. */
export function LimitSettings({ settings, locked }: SettingsPartProps) {
  const save = useSaveSettings();
  const [bytes, setBytes] = useState(sizeText(settings.quota.max_bytes));
  const [objects, setObjects] = useState(settings.quota.max_objects?.toString() ?? '');
  const [largest, setLargest] = useState(sizeText(settings.max_object_size));
  const [types, setTypes] = useState((settings.allowed_content_types ?? []).join('\n'));
  const sizes = [bytes, largest].map((text) => (text.trim() === '' ? null : parseBytes(text)));
  const faults = [bytes, largest].map((text) =>
    text.trim() !== '' && parseBytes(text) === null ? 'Such as 10 GiB.' : undefined,
  );
  const countFault = objects.trim() !== '' && !/^\d{1,15}$/.test(objects.trim()) ? 'A whole number.' : undefined;
  return (
    <Section title="Limits" description="An upload that would go beyond is refused.">
      <Panel>
        <Used settings={settings} locked={locked} />
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const allowed = linesOf(types);
            save.mutate({
              quota: {
                max_bytes: sizes[0] ?? null,
                max_objects: objects.trim() === '' ? null : Number(objects),
              },
              max_object_size: sizes[1] ?? null,
              allowed_content_types: allowed.length === 0 ? null : allowed,
            });
          }}
        >
          <FieldStack>
            <TextField
              label="Bytes in all"
              value={bytes}
              disabled={locked}
              placeholder="No limit"
              error={faults[0]}
              onChange={(event) => setBytes(event.target.value)}
            />
            <TextField
              label="Objects in all"
              value={objects}
              disabled={locked}
              placeholder="No limit"
              inputMode="numeric"
              error={countFault}
              onChange={(event) => setObjects(event.target.value)}
            />
            <TextField
              label="Largest object"
              value={largest}
              disabled={locked}
              placeholder="No limit"
              error={faults[1]}
              onChange={(event) => setLargest(event.target.value)}
            />
            <TextArea
              label="Content types that are taken"
              value={types}
              disabled={locked}
              placeholder="All"
              hint="One a line, such as image/png or image/*."
              onChange={(event) => setTypes(event.target.value)}
            />
          </FieldStack>
          <SaveRow
            state={save}
            locked={locked}
            disabled={countFault !== undefined || faults.some((fault) => fault !== undefined)}
          />
        </form>
      </Panel>
    </Section>
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
          'Bytes',
          <span key="bytes">
            {formatBytes(bucket.size_bytes)}
            {maxBytes !== null && <Meter label="Bytes of the limit" value={bucket.size_bytes} limit={maxBytes} />}
          </span>,
        ],
        [
          'Objects',
          <span key="objects">
            {formatCount(bucket.object_count)}
            {maxObjects !== null && (
              <Meter label="Objects of the limit" value={bucket.object_count} limit={maxObjects} />
            )}
          </span>,
        ],
      ]}
    />
  );
}

function sizeText(sizeBytes: number | null): string {
  if (sizeBytes === null) return '';
  const text = formatBytes(sizeBytes);
  return parseBytes(text) === sizeBytes ? text : String(sizeBytes);
}
