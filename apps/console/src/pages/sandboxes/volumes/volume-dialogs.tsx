import type { Volume } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { filesKey, volumesKey } from '../../../api/query-keys.ts';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { formText } from '../../../ui/form-text.ts';
import { useToasts } from '../../../ui/toast.tsx';

const MINIMUM_MB = 64;

/** Runs a change, then closes the dialog, says what was done, and refreshes all volumes. */
function useChange<Argument>(
  change: (argument: Argument) => Promise<unknown>,
  said: string,
  onClose: () => void,
  onChanged?: (argument: Argument) => Promise<void>,
) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const mutation = useMutation({
    mutationFn: change,
    onSuccess: async (_, argument) => {
      close();
      done(said);
      await onChanged?.(argument);
      await queryClient.invalidateQueries({ queryKey: volumesKey(workspace) });
    },
  });
  const close = (): void => {
    mutation.reset();
    onClose();
  };
  return { mutation, close };
}

export function CreateVolumeDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const api = useSandboxes();
  const name = useRef<HTMLInputElement>(null);
  const { mutation, close } = useChange(
    (volume: { name: string; size_mb?: number }) => api.volumes.create(volume),
    'Volume created',
    onClose,
  );
  return (
    <Dialog
      open={open}
      onClose={close}
      initialFocus={name}
      title="New volume"
      description="A file system that is kept when sandboxes are deleted. One sandbox at a time can write to it."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const size = formText(event.currentTarget, 'size');
          const wanted = { name: formText(event.currentTarget, 'name').trim() };
          mutation.mutate(size === '' ? wanted : { ...wanted, size_mb: Number(size) });
        }}
      >
        <FieldStack>
          <TextField
            ref={name}
            label="Name"
            name="name"
            required
            maxLength={64}
            pattern="[A-Za-z0-9][A-Za-z0-9_\-]*"
            hint="Letters, digits, hyphens and underscores"
            autoComplete="off"
            spellCheck={false}
          />
          <SizeField minimum={MINIMUM_MB} placeholder="Default" />
        </FieldStack>
        <FormError error={mutation.error} />
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="primary" pending={mutation.isPending}>
            Create volume
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

export function ResizeVolumeDialog({ volume, onClose }: { volume: Volume | null; onClose: () => void }) {
  const api = useSandboxes();
  const { mutation, close } = useChange(
    (wanted: { name: string; sizeMb: number }) => api.volumes.resize(wanted.name, wanted.sizeMb),
    'Volume resized',
    onClose,
  );
  return (
    <Dialog
      open={volume !== null}
      onClose={close}
      title={`Resize ${volume?.name ?? ''}`}
      description="Volumes can grow, but not shrink."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (volume === null) return;
          mutation.mutate({ name: volume.name, sizeMb: Number(formText(event.currentTarget, 'size')) });
        }}
      >
        <SizeField minimum={volume?.size_mb ?? MINIMUM_MB} initial={volume?.size_mb} />
        <FormError error={mutation.error} />
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="primary" pending={mutation.isPending}>
            Resize volume
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

export interface DeleteVolumeDialogProps {
  volume: Volume | null;
  onClose: () => void;
  /** Called before the volumes are refreshed, so that its own page can leave. */
  onDeleted?: () => Promise<void>;
}

export function DeleteVolumeDialog({ volume, onClose, onDeleted }: DeleteVolumeDialogProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { mutation, close } = useChange(
    (name: string) => api.volumes.delete(name),
    'Volume deleted',
    onClose,
    async (name) => {
      await onDeleted?.();
      // Another volume may get the name.
      queryClient.removeQueries({ queryKey: filesKey(workspace, { kind: 'volume', id: name }) });
    },
  );
  return (
    <ConfirmDialog
      open={volume !== null}
      onClose={close}
      onConfirm={() => {
        if (volume !== null) mutation.mutate(volume.name);
      }}
      title={`Delete ${volume?.name ?? ''}?`}
      action="Delete volume"
      pending={mutation.isPending}
      error={mutation.error}
    >
      Its files are deleted. Snapshots of it are kept. This cannot be undone.
    </ConfirmDialog>
  );
}

interface SizeFieldProps {
  minimum: number;
  initial?: number | undefined;
  placeholder?: string;
}

function SizeField({ minimum, initial, placeholder }: SizeFieldProps) {
  return (
    <TextField
      label="Size (MiB)"
      name="size"
      type="number"
      min={minimum}
      step={1}
      required={placeholder === undefined}
      placeholder={placeholder}
      defaultValue={initial}
    />
  );
}
