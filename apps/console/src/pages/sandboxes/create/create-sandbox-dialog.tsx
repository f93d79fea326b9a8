import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { imagesQuery, sandboxClustersQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxesKey } from '../../../api/query-keys.ts';
import type { SandboxCluster, SandboxImage } from '@svc/sdk';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Select } from '../../../ui/select.tsx';
import { ErrorState, LoadingRegion } from '../../../ui/states.tsx';
import { ImagePicker } from './image-picker.tsx';
import { MoreSettings } from './more-settings.tsx';
import { EMPTY_DRAFT, validateDraft, toNewSandbox, type SandboxDraft } from './sandbox-draft.ts';

export function CreateSandboxDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      width="wide"
      title="New sandbox"
      description="Start an isolated machine from an image. Cached images start in milliseconds."
    >
      <Loaded onDone={onClose} />
    </Dialog>
  );
}

function Loaded({ onDone }: { onDone: () => void }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const images = useQuery(imagesQuery(api, workspace));
  const clusters = useQuery(sandboxClustersQuery(api, workspace));
  if (images.isError) return <ErrorState error={images.error} onRetry={() => void images.refetch()} />;
  if (images.data === undefined || clusters.isPending) return <LoadingRegion height="20rem" />;
  return <CreateSandboxForm catalog={images.data} clusters={clusters.data ?? []} onDone={onDone} />;
}

interface CreateSandboxFormProps {
  catalog: readonly SandboxImage[];
  clusters: readonly SandboxCluster[];
  onDone: () => void;
}

function CreateSandboxForm({ catalog, clusters, onDone }: CreateSandboxFormProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  // Stable across retries of this form, so that a lost response does not create two sandboxes.
  const key = useRef(crypto.randomUUID());
  const [draft, setDraft] = useState<SandboxDraft>(() => ({ ...EMPTY_DRAFT, image: findDefault(catalog) }));
  const change = (fields: Partial<SandboxDraft>): void => {
    key.current = crypto.randomUUID();
    setDraft({ ...draft, ...fields });
  };
  const faults = validateDraft(draft);
  const creation = useMutation({
    mutationFn: () => api.create(toNewSandbox(draft), { waitMs: 0, idempotencyKey: key.current }),
    onSuccess: async (sandbox) => {
      await queryClient.invalidateQueries({ queryKey: sandboxesKey(workspace) });
      onDone();
      await navigate({ to: paths.sandbox, params: { workspace: workspace.uuid, sandbox: sandbox.id } });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (Object.keys(faults).length === 0 && draft.image !== '') creation.mutate();
      }}
    >
      <FieldStack>
        <ImagePicker catalog={catalog} value={draft.image} onChange={(image) => change({ image })} />
        <TextField
          label="Name"
          value={draft.name}
          maxLength={64}
          placeholder="Leave empty for a generated name"
          autoComplete="off"
          spellCheck={false}
          error={faults.name}
          onChange={(event) => change({ name: event.target.value })}
        />
        {clusters.length > 0 && (
          <ClusterPicker clusters={clusters} value={draft.cluster} onChange={(cluster) => change({ cluster })} />
        )}
        <MoreSettings draft={draft} faults={faults} onChange={change} />
      </FieldStack>
      <FormError error={creation.error} />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={creation.isPending} disabled={draft.image === ''}>
          Create sandbox
        </Button>
      </DialogActions>
    </form>
  );
}

/** A select has no empty value, and no cluster has this name. */
const PLATFORM = '-';

interface ClusterPickerProps {
  clusters: readonly SandboxCluster[];
  /** Name of a cluster; empty for the platform. */
  value: string;
  onChange: (cluster: string) => void;
}

/** Chooses where a new sandbox runs. */
function ClusterPicker({ clusters, value, onChange }: ClusterPickerProps) {
  const options = [
    { value: PLATFORM, label: 'Platform' },
    ...clusters.map(({ name }) => ({
      value: name,
      label: name,
      description: 'Connected cluster. Without volumes and buckets.',
    })),
  ];
  return (
    <Select
      label="Run in"
      options={options}
      value={value === '' ? PLATFORM : value}
      onChange={(next) => onChange(next === PLATFORM ? '' : next)}
    />
  );
}

/** Image with the tools that most people and agents want. Programs without a choice get the smaller `default_image`. */
const PREFERRED_IMAGE = 'agents';

function findDefault(images: readonly SandboxImage[]): string {
  const preferred = images.find(({ name }) => name === PREFERRED_IMAGE) ?? images.find((image) => image.default);
  return (preferred ?? images[0])?.name ?? '';
}
