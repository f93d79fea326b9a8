import { Switch as BaseSwitch } from '@base-ui/react/switch';
import { useId, type ReactNode } from 'react';
import styles from './switch.module.css';

export interface SwitchProps {
  label: string;
  /** The effect of turning it on. */
  description?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

/** A switch with its label. */
export function Switch({ label, description, checked, onChange, disabled = false }: SwitchProps) {
  const id = useId();
  return (
    <div className={styles['row']}>
      <div className={styles['text']}>
        <span id={id} className={styles['label']}>
          {label}
        </span>
        {description !== undefined && (
          <p id={`${id}-description`} className={styles['description']}>
            {description}
          </p>
        )}
      </div>
      <BaseSwitch.Root
        className={styles['root']}
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-labelledby={id}
        aria-describedby={description === undefined ? undefined : `${id}-description`}
      >
        <BaseSwitch.Thumb className={styles['thumb']} />
      </BaseSwitch.Root>
    </div>
  );
}
