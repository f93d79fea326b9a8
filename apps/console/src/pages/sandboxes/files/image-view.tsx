import { useEffect, useState } from 'react';
import { nameOf } from './file-paths.ts';
import styles from './files.module.css';

export interface ImageViewProps {
  path: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export function ImageView({ path, type, bytes }: ImageViewProps) {
  const [source, setSource] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [bytes, type]);
  return (
    <div className={styles['look']}>
      {broken && <p className="muted">Preview not available. The file may not be a valid image.</p>}
      {source !== null && !broken && (
        <img src={source} alt={`Preview of ${nameOf(path)}`} onError={() => setBroken(true)} />
      )}
    </div>
  );
}
