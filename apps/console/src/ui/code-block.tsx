import { Check, Copy } from 'lucide-react';
import { IconButton } from './button.tsx';
import styles from './code-block.module.css';
import { lowerFirst, useCopy } from './copy-field.tsx';

/** Multi-line text to copy, such as shell commands. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  const { copied, copy } = useCopy(text);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['caption']}>
        <span className={styles['label']}>{label}</span>
        <IconButton size="small" label={copied ? 'Copied' : `Copy ${lowerFirst(label)}`} onClick={copy}>
          {copied ? <Check size={14} className={styles['check']} /> : <Copy size={14} />}
        </IconButton>
      </figcaption>
      <pre className={styles['text']} role="group" tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <span role="status" className="visually-hidden">
        {copied ? 'Copied' : ''}
      </span>
    </figure>
  );
}
