import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import styles from './copy-field.module.css';

const SHOWN_MS = 2000;

export function useCopy(text: string): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = window.setTimeout(() => setCopied(false), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    void copyText(text).then(setCopied);
  };
  return { copied, copy };
}

/**
 * Copies text and returns whether it worked. Without TLS, the clipboard API exists only on localhost; elsewhere the
 * text stays selectable.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Lowercases a label for use within a sentence; keeps abbreviations such as `API`. */
export function lowerFirst(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? `${label.charAt(0).toLowerCase()}${label.slice(1)}` : label;
}

export interface CopyFieldProps {
  label: string;
  value: string;
  labelHidden?: boolean;
  /** Shown while there is no value. */
  placeholder?: string;
}

/** A value to copy: selected as a whole, and copied with one button. */
export function CopyField({ label, value, labelHidden = false, placeholder = '' }: CopyFieldProps) {
  const { copied, copy } = useCopy(value);
  return (
    <div className={styles['field']}>
      <span className={labelHidden ? 'visually-hidden' : styles['label']}>{label}</span>
      <div className={styles['box']}>
        {value === '' ? (
          <span className={styles['none']}>{placeholder}</span>
        ) : (
          <code className={styles['line']}>{value}</code>
        )}
        <IconButton
          size="small"
          disabled={value === ''}
          label={copied ? 'Copied' : `Copy ${lowerFirst(label)}`}
          onClick={copy}
        >
          {copied ? <Check size={14} className={styles['check']} /> : <Copy size={14} />}
        </IconButton>
        <span role="status" className="visually-hidden">
          {copied ? 'Copied' : ''}
        </span>
      </div>
    </div>
  );
}
