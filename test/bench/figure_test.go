package main

import "testing"

func TestFigure(t *testing.T) {
	cases := map[string]struct {
		reason string
		f      figure
		want   string
	}{
		"Plain": {"no ratio, no target: a dash for each, and ok", figure{name: "n", value: 237.4, unit: "us"},
			"n                                             237 us              -        - ok"},
		"RatioMet": {"the target is about the ratio", figure{name: "n", value: 1662, unit: "us", ratio: 1.206, target: target{atMost, 1.3, true}},
			"n                                            1662 us           1.21   <=1.3x ok"},
		"RatioShort": {"a rate should be high", figure{name: "n", value: 4000, unit: "events/s", ratio: 8.48, target: target{atLeast, 15, true}},
			"n                                            4000 events/s     8.48    >=15x short"},
		"ValueShort": {"the target is about the value", figure{name: "n", value: 200.5, unit: "ms", target: target{relation: atMost, limit: 200}},
			"n                                             200 ms              -    <=200 short"},
		"ValueMet": {"the limit itself is met", figure{name: "n", value: 15, unit: "percent", target: target{relation: atMost, limit: 15}},
			"n                                              15 percent         -     <=15 ok"},
		"Small": {"three digits count", figure{name: "n", value: 0.01962, unit: "s"},
			"n                                          0.0196 s               -        - ok"},
		"Zero": {"nothing is something", figure{name: "n", unit: "MiB"},
			"n                                               0 MiB             -        - ok"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.f.String(); got != tc.want {
				t.Errorf("%s:\n%q, want\n%q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	cases := map[string]struct {
		reason string
		values []float64
		want   float64
	}{
		"None":    {"of nothing", nil, 0},
		"One":     {"of one it is that", []float64{3}, 3},
		"Odd":     {"in any order", []float64{9, 1, 5}, 5},
		"Outlier": {"one that is far off does not count", []float64{1, 2, 3, 1000, 2}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := median(tc.values); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestRSSAnon(t *testing.T) {
	kib, err := rssAnon("Name:\tanthill\nRssAnon:\t   15772 kB\nRssFile:\t   40000 kB\n")
	if err != nil || kib != 15772 {
		t.Errorf("%d, %v", kib, err)
	}
	for _, status := range []string{"", "RssFile:\t1 kB\n", "RssAnon:\tmuch kB\n"} {
		if kib, err := rssAnon(status); err == nil {
			t.Errorf("of %q: %d", status, kib)
		}
	}
}
