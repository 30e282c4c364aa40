package rig

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Metric is the sum of the series of the running operator that have this name
// and all these labels, each as `name="value"`; 0 when there is none.
func (o *Operator) Metric(ctx context.Context, name string, labels ...string) (float64, error) {
	o.mu.Lock()
	addr := o.metrics
	o.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("reading the operator's metrics: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("reading the operator's metrics: %s", resp.Status)
	}
	return SumOf(resp.Body, name, labels...)
}

// SumOf is the sum of the series of this name, with all these labels, in what a
// program says of its metrics.
func SumOf(metrics io.Reader, name string, labels ...string) (float64, error) {
	sum := 0.0
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		series, value, ok := cutLast(lines.Text())
		if !ok || !isSeries(series, name, labels) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the operator's metrics: %q: %w", lines.Text(), err)
		}
		sum += v
	}
	return sum, lines.Err()
}

// cutLast cuts a line at its last blank: label values may hold some.
func cutLast(line string) (before, after string, ok bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 || strings.HasPrefix(line, "#") {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

func isSeries(series, name string, labels []string) bool {
	rest, ok := strings.CutPrefix(series, name)
	if !ok || rest != "" && rest[0] != '{' {
		return false
	}
	for _, l := range labels {
		if !strings.Contains(rest, l) {
			return false
		}
	}
	return true
}
