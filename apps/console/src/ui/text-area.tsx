import { useId, type ComponentProps, type ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './field.module.css';

export interface TextAreaProps extends ComponentProps<'textarea'> {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

/** A multi-line field, such as a list with one entry per line. */
export function TextArea({ label, hint, error, ...area }: TextAreaProps) {
  const id = useId();
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={styles['label']}>
        {label}
      </label>
      <div className={classNames(styles['box'], styles['lines'], error !== undefined && styles['invalid'])}>
        <textarea
          rows={3}
          spellCheck={false}
          {...area}
          id={id}
          className={styles['area']}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={describedBy.length === 0 ? undefined : describedBy.join(' ')}
        />
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
