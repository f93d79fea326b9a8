import { Button } from '../../../ui/button.tsx';
import { DialogActions } from '../../../ui/dialog.tsx';
import { FormError } from '../../../ui/form-error.tsx';

export interface SaveRowProps {
  state: { isPending: boolean; error: unknown };
  /** True if nothing changed or the input is invalid. */
  disabled: boolean;
  locked: boolean;
}

/** The last row of a settings form. */
export function SaveRow({ state, disabled, locked }: SaveRowProps) {
  if (locked) return null;
  return (
    <>
      <FormError error={state.error} />
      <DialogActions>
        <Button type="submit" pending={state.isPending} disabled={disabled}>
          Save
        </Button>
      </DialogActions>
    </>
  );
}
