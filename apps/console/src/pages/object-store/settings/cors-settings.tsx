import type { CorsRule } from '@svc/sdk';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { isSame } from '../../../ui/is-same.ts';
import { Panel, Section } from '../../../ui/page.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import { parseLines } from './lines.ts';
import { SaveRow } from './save-row.tsx';
import styles from './settings.module.css';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

interface Draft {
  id: number;
  /** The rule's name, if any. */
  name: string | undefined;
  origins: string;
  methods: readonly Method[];
  headers: string;
  exposed: string;
  maxAge: string;
}

/** Other origins that may call the store from a browser. */
export function CorsSettings({ settings, locked }: SettingsPartProps) {
  const save = useSaveSettings();
  const [drafts, setDrafts] = useState(() => (settings.cors_rules ?? []).map(createDraft));
  const [nextId, setNextId] = useState(drafts.length);
  const change = (id: number, changes: Partial<Draft>): void =>
    setDrafts(drafts.map((draft) => (draft.id === id ? { ...draft, ...changes } : draft)));
  const add = (): void => {
    setDrafts([
      ...drafts,
      {
        id: nextId,
        name: undefined,
        origins: '',
        methods: ['GET', 'HEAD'],
        headers: '*',
        exposed: 'ETag',
        maxAge: '3600',
      },
    ]);
    setNextId(nextId + 1);
  };
  const changed = !isSame(drafts.map(parseRule), (settings.cors_rules ?? []).map(createDraft).map(parseRule));
  const incomplete = drafts.some(
    ({ origins, methods, maxAge }) => parseLines(origins).length === 0 || methods.length === 0 || !isAge(maxAge),
  );
  return (
    <Section
      title="CORS"
      description="The first rule that matches the origin and method applies."
      actions={
        !locked && (
          <Button size="small" icon={<Plus size={13} />} onClick={add}>
            Add rule
          </Button>
        )
      }
    >
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ cors_rules: drafts.length === 0 ? null : drafts.map(parseRule) });
          }}
        >
          {drafts.length === 0 && <p className="muted">No rules: browsers block requests from other origins.</p>}
          {drafts.map((draft, index) => (
            <CorsRuleForm
              key={draft.id}
              number={index + 1}
              draft={draft}
              locked={locked}
              onChange={(changes) => change(draft.id, changes)}
              onRemove={() => setDrafts(drafts.filter(({ id }) => id !== draft.id))}
            />
          ))}
          <SaveRow state={save} locked={locked} disabled={incomplete || !changed} />
        </form>
      </Panel>
    </Section>
  );
}

interface CorsRuleFormProps {
  number: number;
  draft: Draft;
  locked: boolean;
  onChange: (changes: Partial<Draft>) => void;
  onRemove: () => void;
}

function CorsRuleForm({ number, draft, locked, onChange, onRemove }: CorsRuleFormProps) {
  return (
    <fieldset className={styles['rule']} disabled={locked}>
      <legend className={styles['legend']}>Rule {number}</legend>
      <FieldStack>
        <TextArea
          label="Origins"
          hint="One per line, for example https://app.example.com or *."
          value={draft.origins}
          onChange={(event) => onChange({ origins: event.target.value })}
        />
        <div className={styles['boxes']}>
          {METHODS.map((method) => (
            <Checkbox
              key={method}
              label={method}
              checked={draft.methods.includes(method)}
              disabled={locked}
              onChange={(checked) =>
                onChange({
                  methods: METHODS.filter((each) => (each === method ? checked : draft.methods.includes(each))),
                })
              }
            />
          ))}
        </div>
        <TextField
          label="Allowed request headers"
          value={draft.headers}
          onChange={(event) => onChange({ headers: event.target.value })}
        />
        <TextField
          label="Exposed response headers"
          value={draft.exposed}
          onChange={(event) => onChange({ exposed: event.target.value })}
        />
        <TextField
          label="Max age (seconds)"
          inputMode="numeric"
          value={draft.maxAge}
          error={isAge(draft.maxAge) ? undefined : 'Enter whole seconds or leave empty.'}
          onChange={(event) => onChange({ maxAge: event.target.value })}
        />
      </FieldStack>
      {!locked && (
        <IconButton label={`Remove rule ${number}`} size="small" className={styles['remove']} onClick={onRemove}>
          <Trash2 size={15} />
        </IconButton>
      )}
    </fieldset>
  );
}

function createDraft(rule: CorsRule, index: number): Draft {
  return {
    id: index,
    name: rule.id,
    origins: rule.allowed_origins.join('\n'),
    methods: METHODS.filter((method) => rule.allowed_methods.includes(method)),
    headers: (rule.allowed_headers ?? []).join(', '),
    exposed: (rule.expose_headers ?? []).join(', '),
    maxAge: rule.max_age_seconds?.toString() ?? '',
  };
}

function parseRule({ name, origins, methods, headers, exposed, maxAge }: Draft): CorsRule {
  const list = (text: string): string[] => parseLines(text.replaceAll(',', '\n'));
  return {
    ...(name === undefined ? {} : { id: name }),
    allowed_origins: parseLines(origins),
    allowed_methods: [...methods],
    allowed_headers: list(headers),
    expose_headers: list(exposed),
    ...(maxAge.trim() === '' ? {} : { max_age_seconds: Number(maxAge) }),
  };
}

function isAge(text: string): boolean {
  return /^\d{0,9}$/.test(text.trim());
}
