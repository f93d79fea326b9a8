import type { EgressRule } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent, type RefObject } from 'react';
import { sandboxKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { secretsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { formText } from '../../../ui/form-text.ts';
import { Select } from '../../../ui/select.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import styles from './secrets.module.css';

const PLACES = [
  { value: 'header', label: 'Header' },
  { value: 'query', label: 'Query parameter' },
] as const;
type Place = (typeof PLACES)[number]['value'];

interface AddRuleDialogProps {
  open: boolean;
  sandbox: Sandbox;
  onClose: () => void;
}

export function AddRuleDialog({ open, sandbox, onClose }: AddRuleDialogProps) {
  const host = useRef<HTMLInputElement>(null);
  return (
    <Dialog open={open} onClose={onClose} title="Add rule" initialFocus={host}>
      <AddRuleForm hostRef={host} sandbox={sandbox} onClose={onClose} />
    </Dialog>
  );
}

interface AddRuleFormProps extends Omit<AddRuleDialogProps, 'open'> {
  hostRef: RefObject<HTMLInputElement | null>;
}

function AddRuleForm({ hostRef, sandbox, onClose }: AddRuleFormProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const secrets = useQuery(secretsQuery(api, workspace));
  const [place, setPlace] = useState<Place>('header');
  const [chosen, setChosen] = useState<string | null>(null);
  const [insecure, setInsecure] = useState(false);
  const names = secrets.data?.map(({ name }) => name) ?? [];
  const secret = chosen ?? names[0];
  const addition = useMutation({
    mutationFn: (rule: EgressRule) => api.of(sandbox.id).setEgressRules([...sandbox.egress_rules, rule]),
    onSuccess: (_answer, { host }) => {
      onClose();
      done(`Rule for ${host} added`);
      return queryClient.invalidateQueries({ queryKey: sandboxKey(workspace, sandbox.id) });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (secret === undefined) return;
    const name = formText(form, 'name').trim();
    const where = place === 'header' ? { header: name } : { query: name };
    addition.mutate({
      host: formText(form, 'host').trim(),
      ...where,
      secret,
      template: formText(form, 'as'),
      insecure,
    });
  };
  return (
    <form onSubmit={submit}>
      <FieldStack>
        <HostField hostRef={hostRef} />
        <PlaceFields place={place} onPlace={setPlace} />
        <ContentFields place={place} names={names} secret={secret} onSecret={setChosen} />
        <Checkbox label="Also over plain HTTP" checked={insecure} onChange={setInsecure} />
        {secrets.data?.length === 0 && <p className="muted">This workspace has no secrets yet. Create one first.</p>}
      </FieldStack>
      <FormError error={addition.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={addition.isPending} disabled={secret === undefined}>
          Add rule
        </Button>
      </DialogActions>
    </form>
  );
}

function HostField({ hostRef }: Pick<AddRuleFormProps, 'hostRef'>) {
  return (
    <TextField
      ref={hostRef}
      label="Host"
      name="host"
      required
      maxLength={255}
      autoComplete="off"
      spellCheck={false}
      placeholder="api.openai.com"
      hint="A hostname, or *. and a hostname for all names below it."
    />
  );
}

function PlaceFields({ place, onPlace }: { place: Place; onPlace: (place: Place) => void }) {
  return (
    <div className={styles['pair']}>
      <Select label="Set" options={PLACES} value={place} onChange={onPlace} />
      <TextField
        key={place}
        label={place === 'header' ? 'Header name' : 'Parameter name'}
        name="name"
        required
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        defaultValue={place === 'header' ? 'Authorization' : 'key'}
      />
    </div>
  );
}

interface ContentFieldsProps {
  place: Place;
  /** Names of all secrets. */
  names: readonly string[];
  secret: string | undefined;
  onSecret: (name: string) => void;
}

function ContentFields({ place, names, secret, onSecret }: ContentFieldsProps) {
  return (
    <div className={styles['pair']}>
      <Select
        label="Secret"
        options={names.map((name) => ({ value: name, label: name }))}
        value={secret ?? ''}
        onChange={onSecret}
        disabled={secret === undefined}
      />
      <TextField
        key={place}
        label="As"
        name="as"
        required
        maxLength={1024}
        autoComplete="off"
        spellCheck={false}
        defaultValue={place === 'header' ? 'Bearer {value}' : '{value}'}
      />
    </div>
  );
}
