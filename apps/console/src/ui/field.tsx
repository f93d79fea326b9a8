import { useId, type ComponentProps, type ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './field.module.css';

export interface TextFieldProps extends ComponentProps<'input'> {
  label: string;
  /** Hides the label visually where the context provides it, such as in a filter row. */
  labelHidden?: boolean;
  hint?: ReactNode;
  error?: string | undefined;
  /** Content at the end of the box. */
  trailing?: ReactNode;
  /** Content at the start of the box. */
  leading?: ReactNode;
}

export function TextField({ label, labelHidden, hint, error, leading, trailing, className, ...input }: TextFieldProps) {
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className={classNames(styles['field'], className)}>
      <label htmlFor={id} className={labelHidden === true ? 'visually-hidden' : styles['label']}>
        {label}
      </label>
      <div className={classNames(styles['box'], error !== undefined && styles['invalid'])}>
        {leading !== undefined && <span className={styles['leading']}>{leading}</span>}
        <input
          {...input}
          id={id}
          className={styles['input']}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={describedBy.length === 0 ? undefined : describedBy.join(' ')}
        />
        {trailing}
      </div>
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={styles['error']}>
          {error}
        </p>
      )}
    </div>
  );
}

/** Evenly spaced fields in a column. */
export function FieldStack({ children }: { children: ReactNode }) {
  return <div className={styles['stack']}>{children}</div>;
}
