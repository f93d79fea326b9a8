import { Checkbox as BaseCheckbox } from '@base-ui/react/checkbox';
import { Check, Minus } from 'lucide-react';
import { useId } from 'react';
import styles from './checkbox.module.css';
import { classNames } from './class-names.ts';

export interface CheckboxProps {
  label: string;
  /** Hides the label visually, for checkboxes in rows, which are labeled by the row. */
  labelHidden?: boolean;
  checked: boolean;
  /** Shows the indeterminate state: part of the selection is checked. */
  partly?: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

export function Checkbox({ label, labelHidden = false, checked, partly = false, onChange, disabled }: CheckboxProps) {
  const id = useId();
  return (
    <span className={styles['row']}>
      <BaseCheckbox.Root
        className={styles['root']}
        checked={checked}
        indeterminate={partly}
        onCheckedChange={onChange}
        disabled={disabled ?? false}
        aria-labelledby={id}
      >
        <BaseCheckbox.Indicator className={styles['indicator']}>
          {partly ? <Minus size={12} strokeWidth={3} /> : <Check size={12} strokeWidth={3} />}
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      <span id={id} className={classNames(labelHidden && 'visually-hidden')}>
        {label}
      </span>
    </span>
  );
}
